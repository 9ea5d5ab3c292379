"""How the App proves to GitHub that it is itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

_BACK = timedelta(seconds=60)  # clocks differ
_LIFE = timedelta(minutes=9)  # GitHub takes ten at most, from its own clock


@dataclass(frozen=True, slots=True)
class AppKey:
    """The App's number and its private key."""

    app_id: int
    pem: str = field(repr=False)

    def signed(self, now: datetime) -> str:
        """A JWT that is good for the next minutes."""
        issued = now - _BACK
        claims = {
            "iat": int(issued.timestamp()),
            "exp": int((issued + _LIFE).timestamp()),
            "iss": str(self.app_id),
        }
        return jwt.encode(claims, _parsed(self.pem), algorithm="RS256")


@lru_cache(maxsize=4)
def _parsed(pem: str) -> RSAPrivateKey:
    # Checking a key takes tens of milliseconds, in which nothing else would be served.
    key = load_pem_private_key(pem.encode(), password=None)
    if not isinstance(key, RSAPrivateKey):
        raise TypeError("the App's key is not an RSA key")
    return key
