"""Issue tokens and identify callers."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import jwt

from bot.fakegithub.model import Account, ApiRefusal, Installation, Repository

if TYPE_CHECKING:
    from bot.fakegithub.world import World

_LIFE = timedelta(hours=1)
_LONGEST_JWT = timedelta(minutes=10)
_BAD_IAT = "'Issued at' claim ('iat') must be an Integer representing the time of issue"
_BAD_EXP = "'Expiration time' claim ('exp') must be a numeric value representing the future time"


@dataclass(slots=True, eq=False, kw_only=True)
class Caller:
    """Who calls: the App by its JWT, an installation or a person by a token, or nobody."""

    budget: str = "nobody"
    """Whose hour of requests this counts against."""
    account: Account | None = None
    """The account that acts: the person, or the App's bot."""
    is_app: bool = False
    token: str = ""
    installation: Installation | None = None
    repositories: tuple[Repository, ...] | None = None
    """The repositories of its installation that a token is for; None for all."""
    expires_at: datetime | None = None
    scopes: tuple[str, ...] | None = None
    """Of a classic token; None for all others, which have none."""
    revoked: bool = False

    @property
    def person(self) -> Account | None:
        """The account of a personal token."""
        return None if self.is_app or self.installation else self.account

    def covers(self, repository: Repository) -> bool:
        """Whether an installation's token was given for this repository."""
        installed = self.installation.repositories if self.installation else ()
        return repository in (installed if self.repositories is None else self.repositories)

    def may(self, level: str, *permissions: str) -> bool:
        """Whether an installation was granted one of these permissions at this level."""
        granted = {self.installation and self.installation.permissions.get(name) for name in permissions}
        return "write" in granted or level in granted


@dataclass(slots=True, eq=False)
class IssuedTokens:
    """Every token given out, and the check of what is shown."""

    world: World
    issued: dict[str, Caller] = field(default_factory=dict)

    def for_installation(
        self, installation: Installation, repositories: tuple[Repository, ...] | None = None
    ) -> Caller:
        """A fresh installation token, good for an hour."""
        caller = Caller(
            budget=f"installation {installation.id}",
            account=installation.app.bot,
            installation=installation,
            repositories=repositories,
            expires_at=self.world.now() + _LIFE,
        )
        return self._issue("ghs", caller)

    def for_user(self, account: Account, scopes: tuple[str, ...] | None = ("repo",)) -> Caller:
        """A fresh personal token, fine-grained where there are no scopes."""
        caller = Caller(budget=f"user {account.id}", account=account, scopes=scopes)
        return self._issue("github_pat" if scopes is None else "ghp", caller)

    def _issue(self, prefix: str, caller: Caller) -> Caller:
        caller.token = f"{prefix}_{secrets.token_urlsafe(27)}"
        self.issued[caller.token] = caller
        return caller

    def caller(self, authorization: str | None) -> Caller:
        """Who this `Authorization` header belongs to; refused where the credentials are no good."""
        if not authorization:
            return Caller()
        _, _, token = authorization.partition(" ")
        issued = self.issued.get(token)
        if issued is not None and self._is_good(issued):
            return issued
        if token.count(".") == 2 and token.startswith("eyJ"):
            return self._app(token)
        raise ApiRefusal(401, "Bad credentials")

    def _is_good(self, caller: Caller) -> bool:
        is_uninstalled = caller.installation is not None and caller.installation.deleted
        is_expired = caller.expires_at is not None and caller.expires_at <= self.world.now()
        return not (caller.revoked or is_uninstalled or is_expired)

    def _app(self, token: str) -> Caller:
        app = self.world.app
        # Times are checked below, by this GitHub's own clock.
        options = {"verify_exp": False, "verify_iat": False, "verify_nbf": False, "require": ["iat", "exp"]}
        try:
            claims = jwt.decode(token, app.public_pem, algorithms=["RS256"], options=options)  # type: ignore[arg-type]
        except (jwt.PyJWTError, TypeError):  # an App without a key verifies no JWT
            raise ApiRefusal(401, "A JSON web token could not be decoded") from None
        if str(claims.get("iss")) != str(app.id):
            raise ApiRefusal(401, "Integration not found")
        self._check_times(claims["iat"], claims["exp"])
        return Caller(budget="app", account=app.bot, is_app=True)

    def _check_times(self, issued: object, expires: object) -> None:
        now = self.world.now().timestamp()
        if not isinstance(issued, int | float) or issued > now:
            raise ApiRefusal(401, _BAD_IAT)
        if not isinstance(expires, int | float) or expires <= now:
            raise ApiRefusal(401, _BAD_EXP)
        if expires > now + _LONGEST_JWT.total_seconds():
            raise ApiRefusal(401, "'Expiration time' claim ('exp') is too far in the future")
