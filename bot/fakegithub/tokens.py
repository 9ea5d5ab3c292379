"""Issue tokens and identify callers."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import jwt

from bot.fakegithub.model import Account, App, Installation, Repository

_LIFE = timedelta(hours=1)
_LONGEST_JWT = timedelta(minutes=10)
_BAD_IAT = "'Issued at' claim ('iat') must be an Integer representing the time of issue"
_BAD_EXP = "'Expiration time' claim ('exp') must be a numeric value representing the future time"


class Unauthorized(Exception):
    """The credentials are no good; the message is GitHub's."""


@dataclass(frozen=True, slots=True)
class AppCaller:
    """The App itself, by its JWT."""

    app: App
    budget: str = "app"


@dataclass(slots=True, eq=False)
class InstallationCaller:
    """One installation, by a token that may be narrowed."""

    installation: Installation
    token: str
    expires_at: datetime
    repositories: tuple[Repository, ...] | None = None
    revoked: bool = False

    @property
    def budget(self) -> str:
        """Whose hour of requests this counts against."""
        return f"installation {self.installation.id}"

    def covers(self, repository: Repository) -> bool:
        """Whether the token was given for this repository."""
        granted = self.installation.repositories if self.repositories is None else self.repositories
        return repository in granted

    def may(self, level: str, *permissions: str) -> bool:
        """Whether one of these permissions was granted at this level."""
        granted = {self.installation.permissions.get(permission) for permission in permissions}
        return "write" in granted or level in granted


@dataclass(slots=True, eq=False)
class UserCaller:
    """A person, by a token of their own."""

    account: Account
    token: str
    revoked: bool = False
    scopes: tuple[str, ...] | None = ("repo",)
    """Of a classic token; None for a fine-grained one, which has none."""

    @property
    def budget(self) -> str:
        """Whose hour of requests this counts against."""
        return f"user {self.account.id}"


@dataclass(frozen=True, slots=True)
class AnonymousCaller:
    """A request without credentials."""

    budget: str = "nobody"


Caller = AppCaller | InstallationCaller | UserCaller | AnonymousCaller


@dataclass(slots=True, eq=False)
class IssuedTokens:
    """Every token given out, and the check of what is shown."""

    app: App
    now: Callable[[], datetime]
    issued: dict[str, InstallationCaller | UserCaller] = field(default_factory=dict)

    def for_installation(
        self, installation: Installation, repositories: tuple[Repository, ...] | None = None
    ) -> InstallationCaller:
        """A fresh installation token, good for an hour."""
        value = f"ghs_{secrets.token_urlsafe(27)}"
        token = InstallationCaller(installation, value, self.now() + _LIFE, repositories)
        self.issued[value] = token
        return token

    def for_user(self, account: Account, scopes: tuple[str, ...] | None = ("repo",)) -> UserCaller:
        """A fresh personal token, fine-grained where there are no scopes."""
        kind = "github_pat" if scopes is None else "ghp"
        token = UserCaller(account, f"{kind}_{secrets.token_urlsafe(27)}", scopes=scopes)
        self.issued[token.token] = token
        return token

    def caller(self, authorization: str | None) -> Caller:
        """Who this `Authorization` header belongs to; raises `Unauthorized` for a bad one."""
        if not authorization:
            return AnonymousCaller()
        _, _, token = authorization.partition(" ")
        issued = self.issued.get(token)
        if issued is not None and self._is_good(issued):
            return issued
        if token.count(".") == 2 and token.startswith("eyJ"):
            return self._app(token)
        raise Unauthorized("Bad credentials")

    def _is_good(self, token: InstallationCaller | UserCaller) -> bool:
        if isinstance(token, InstallationCaller):
            return not (token.revoked or token.installation.deleted or token.expires_at <= self.now())
        return not token.revoked

    def _app(self, token: str) -> AppCaller:
        try:
            # Times are checked below, by this GitHub's own clock.
            options = {
                "verify_exp": False,
                "verify_iat": False,
                "verify_nbf": False,
                "require": ["iat", "exp"],
            }
            claims = jwt.decode(token, self.app.public_pem, algorithms=["RS256"], options=options)  # type: ignore[arg-type]
        except (jwt.PyJWTError, TypeError):  # an App without a key verifies no JWT
            raise Unauthorized("A JSON web token could not be decoded") from None
        if str(claims.get("iss")) != str(self.app.id):
            raise Unauthorized("Integration not found")
        self._in_time(claims["iat"], claims["exp"])
        return AppCaller(self.app)

    def _in_time(self, issued: object, expires: object) -> None:
        now = self.now().timestamp()
        if not isinstance(issued, int | float) or issued > now:
            raise Unauthorized(_BAD_IAT)
        if not isinstance(expires, int | float) or expires <= now:
            raise Unauthorized(_BAD_EXP)
        if expires > now + _LONGEST_JWT.total_seconds():
            raise Unauthorized("'Expiration time' claim ('exp') is too far in the future")
