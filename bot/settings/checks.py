"""Whether one variable is well formed: its value, or what is wrong with it, never what was set."""

from __future__ import annotations

import base64
import binascii
import ipaddress
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
_LOG_FORMATS = ("console", "json")
_POSTGRESQL = ("postgresql", "postgres")


def app_id(text: str) -> int:
    """The App's number."""
    if not (text.isascii() and text.isdigit() and len(text) < 19 and int(text)):
        raise ValueError("is not a number; it stands on the App's settings page as App ID")
    return int(text)


def private_key(values: Mapping[str, str]) -> str:
    """The App's key as PEM, from the variable (PEM, escaped or base64) or from the file."""
    text = values.get("GITHUB_PRIVATE_KEY")
    if text is not None:
        return _rsa(_pem(text))
    path = values.get("GITHUB_PRIVATE_KEY_PATH")
    if path is None:
        raise ValueError("is not set, and neither is GITHUB_PRIVATE_KEY_PATH")
    try:
        return _rsa(Path(path).expanduser().read_text(encoding="ascii").strip() + "\n")
    except OSError as error:
        raise ValueError(f"is to be read from GITHUB_PRIVATE_KEY_PATH, but: {error.strerror}") from None
    except ValueError:
        raise ValueError("in the file GITHUB_PRIVATE_KEY_PATH is not an RSA private key in PEM") from None


def webhook_secrets(text: str) -> tuple[str, ...]:
    """One secret, or several while they are rotated."""
    secrets = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    if not secrets:
        raise ValueError("holds no secret")
    return secrets


def url(text: str) -> str:
    """An HTTP address without a slash at its end."""
    parts = _split(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("is not an http:// or https:// address")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("must be a plain address, without user, query or fragment")
    return text.rstrip("/")


def database_url(text: str) -> str:
    """The address of a store that keeps what it is given."""
    parts = _split(text)
    if parts.scheme == "sqlite":
        if parts.netloc or not parts.path.strip("/") or parts.path == "/:memory:":
            raise ValueError("names no file; use sqlite:///relative.db or sqlite:////absolute.db")
        return text
    if parts.scheme in _POSTGRESQL and (parts.hostname or parts.path.strip("/")):
        return f"postgresql{text[len(parts.scheme) :]}"
    raise ValueError("is not one of sqlite:///relative.db, sqlite:////absolute.db, postgresql://…")


def survives(database: str, values: Mapping[str, str]) -> None:
    """SQLite is refused where the disk is wiped."""
    flag = values.get("WHETSTONE_EPHEMERAL", "0").strip()
    wiped = "WHETSTONE_EPHEMERAL" if flag == "1" else "DYNO" if "DYNO" in values else None
    if wiped and database.startswith("sqlite"):
        raise ValueError(
            f"is a SQLite file, and {wiped} says that this disk is wiped; name a postgresql:// database"
        )


def host(text: str) -> str:
    """A name or address to listen on."""
    if any(character.isspace() or character in "/@" for character in text):
        raise ValueError("is not a host name or an address")
    return text.removeprefix("[").removesuffix("]")


def port(text: str) -> int:
    """A TCP port; 0 lets the system choose."""
    if not (text.isascii() and text.isdigit() and len(text) < 6 and int(text) <= 65535):
        raise ValueError("is not a port; use a number from 0 to 65535")
    return int(text)


def networks(text: str) -> tuple[Network, ...]:
    """Addresses and networks, comma-separated."""
    try:
        return tuple(ipaddress.ip_network(part.strip()) for part in text.split(",") if part.strip())
    except ValueError:
        raise ValueError(
            "is not a comma-separated list of IP addresses and networks, such as 10.0.0.1, 10.1.0.0/16"
        ) from None


def log_level(text: str) -> str:
    """How much is logged."""
    if text.upper() not in _LOG_LEVELS:
        raise ValueError(f"is not a level; use one of {', '.join(_LOG_LEVELS)}")
    return text.upper()


def log_format(text: str) -> str:
    """How a log line looks."""
    if text.lower() not in _LOG_FORMATS:
        raise ValueError(f"is not a format; use one of {', '.join(_LOG_FORMATS)}")
    return text.lower()


def _split(text: str) -> SplitResult:
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        raise ValueError("is not an address") from None
    if any(character.isspace() for character in text):
        raise ValueError("is not an address")
    return parts


def _pem(text: str) -> str:
    unescaped = text.replace("\\n", "\n").replace("\r\n", "\n").strip()
    if unescaped.startswith("-----BEGIN"):
        return unescaped + "\n"
    try:
        return base64.b64decode("".join(text.split()), validate=True).decode("ascii").strip() + "\n"
    except (binascii.Error, ValueError):
        raise ValueError("is not an RSA private key in PEM, nor one in base64") from None


def _rsa(pem: str) -> str:
    # Here, because it is slow to import and every command imports the settings.
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(pem.encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise ValueError("is not an RSA private key in PEM, nor one in base64") from None
    if not isinstance(key, RSAPrivateKey):
        raise ValueError("is a private key, but not an RSA one")  # noqa: TRY004 - the operator's value is wrong
    return pem
