"""Which key pair does an App sign its requests with?"""

from __future__ import annotations

from dataclasses import dataclass, field

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa


@dataclass(frozen=True, slots=True)
class KeyPair:
    """An RSA key pair as PEM text: the bot holds the private half, GitHub the public one."""

    private_pem: str = field(repr=False)
    public_pem: str


def new_key_pair() -> KeyPair:
    """A fresh key pair, made for one demo or one test run."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return KeyPair(private.decode(), public.decode())
