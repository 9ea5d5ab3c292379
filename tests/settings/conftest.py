import base64

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat


@pytest.fixture(scope="session")
def pem():
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()).decode()


@pytest.fixture
def environ(pem):
    return {
        "GITHUB_APP_ID": "4242",
        "GITHUB_PRIVATE_KEY": pem,
        "GITHUB_WEBHOOK_SECRET": "correct horse",
    }


@pytest.fixture(params=["as it is", "escaped", "base64", "base64 in lines", "carriage returns"])
def written_key(request, pem):
    encoded = base64.b64encode(pem.encode()).decode()
    return {
        "as it is": pem,
        "escaped": pem.replace("\n", "\\n"),
        "base64": encoded,
        "base64 in lines": "\n".join(encoded[at : at + 64] for at in range(0, len(encoded), 64)),
        "carriage returns": pem.replace("\n", "\r\n"),
    }[request.param]
