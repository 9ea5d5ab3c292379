"""Verify the OIDC tokens of GitHub Actions, and which pull requests a workflow run may validate."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import jwt
import msgspec

from bot import regex
from bot.github.client import GitHub
from bot.github.errors import Forbidden, NotFound
from bot.github.model import WorkflowClaims
from bot.github.payloads import get_path, get_text
from bot.values import Account, Repository
from bot.web.responses import ApiError

GITHUB_ACTIONS = Account(41898282, "github-actions[bot]", bot=True)
"""The App behind every workflow, as github.com numbers it; an enterprise server never counts this far."""
KEYS_MAX_AGE = 3600.0
"""Seconds for which the issuer's keys are used: one that it withdraws ends with them."""
REFETCH_SECONDS = 60.0
"""Seconds between two requests to the issuer, however many unknown keys the tokens name."""
_LEEWAY = 30
_ALGORITHM = "RS256"
_REQUIRED = ["aud", "exp", "iat", "iss", "repository", "repository_id", "run_id", "workflow_ref"]
_TOKEN = regex.Regex(r"eyJ[A-Za-z0-9_\-]+\.[A-Za-z0-9_\-]+\.[A-Za-z0-9_\-]+")
_MAX_TOKEN = 8_000
_MAX_KEYS = 50


def is_oidc_token(token: str) -> bool:
    """Whether a token has the form of a JWT, which no token of GitHub's API has."""
    return len(token) <= _MAX_TOKEN and _TOKEN.fullmatch(token) is not None


@asynccontextmanager
async def open_verifier(
    issuer: str, audience: str | None, *, seconds: float = 10, timer: Callable[[], float] = time.monotonic
) -> AsyncIterator[OidcVerifier]:
    """Open with separate connections, which only the issuer is asked over."""
    timeout = aiohttp.ClientTimeout(total=seconds)
    async with aiohttp.ClientSession(timeout=timeout, cookie_jar=aiohttp.DummyCookieJar()) as session:
        yield OidcVerifier(IssuerKeys(session, issuer, timer), issuer, audience)


@dataclass(slots=True)
class IssuerKeys:
    """The issuer's public keys by their id, fetched when they are needed."""

    session: aiohttp.ClientSession
    issuer: str
    timer: Callable[[], float] = time.monotonic
    _keys: Mapping[str, jwt.PyJWK] = field(default_factory=dict)
    _fetched: float | None = None
    _asked: float | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def get(self, key_id: str) -> jwt.PyJWK | None:
        """Return a key; None if the issuer has none of this id. Raises `ApiError`."""
        async with self._lock:
            if self._is_due(key_id):
                await self._fetch()
        if self._age(self._fetched) > KEYS_MAX_AGE:
            raise ApiError(503, f"The keys of {self.issuer} can't be read right now; try again in a minute.")
        return self._keys.get(key_id)

    def _is_due(self, key_id: str) -> bool:
        is_known = key_id in self._keys and self._age(self._fetched) <= KEYS_MAX_AGE
        return not is_known and self._age(self._asked) >= REFETCH_SECONDS

    def _age(self, at: float | None) -> float:
        return float("inf") if at is None else self.timer() - at

    async def _fetch(self) -> None:
        self._asked = self.timer()
        try:
            described = await self._get(f"{self.issuer}/.well-known/openid-configuration")
            listed = get_path(await self._get(get_text(described, "jwks_uri")), "keys")
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError, msgspec.DecodeError):
            return
        keys = (_parse_key(key) for key in (listed if isinstance(listed, list) else ())[:_MAX_KEYS])
        self._keys = {key.key_id: key for key in keys if key and key.key_id}
        self._fetched = self._asked

    async def _get(self, url: str) -> Any:
        async with self.session.get(url, allow_redirects=False, raise_for_status=True) as response:
            return msgspec.json.decode(await response.content.read(1_000_000))


def _parse_key(value: Any) -> jwt.PyJWK | None:
    """Return a key that signs with RS256; every other one is of no use here."""
    if get_text(value, "kty") != "RSA" or get_text(value, "alg") not in {"", _ALGORITHM}:
        return None
    try:
        return jwt.PyJWK(value, algorithm=_ALGORITHM)
    except (jwt.PyJWTError, ValueError, TypeError):
        return None


@dataclass(frozen=True, slots=True)
class OidcVerifier:
    """Verifies tokens of one issuer that were issued for this server."""

    keys: IssuerKeys
    issuer: str
    audience: str | None
    """This server's address; without it no token can be meant for it."""

    async def verify(self, token: str) -> WorkflowClaims:
        """Return what the token says; raises `ApiError`. Nothing in it counts before the signature does."""
        if self.audience is None:
            raise _refuse("this server does not accept OIDC tokens, because PUBLIC_URL is not set")
        try:
            header = jwt.get_unverified_header(token)
        except jwt.PyJWTError:
            raise _refuse("it can't be decoded") from None
        key_id = header.get("kid")
        if header.get("alg") != _ALGORITHM or not isinstance(key_id, str):
            raise _refuse(f"it is not signed with {_ALGORITHM} and a named key")
        key = await self.keys.get(key_id)
        if key is None:
            raise _refuse(f"{self.issuer} has no such key")
        try:
            claims = jwt.decode(
                token,
                key.key,
                algorithms=[_ALGORITHM],
                audience=self.audience,
                issuer=self.issuer,
                leeway=_LEEWAY,
                options={"require": _REQUIRED},
            )
        except jwt.PyJWTError as error:
            reasons: dict[type[jwt.PyJWTError], str] = {
                jwt.ExpiredSignatureError: "it has expired; request a new one",
                jwt.InvalidAudienceError: f"its audience is not {self.audience}",
                jwt.InvalidIssuerError: f"its issuer is not {self.issuer}",
            }
            raise _refuse(reasons.get(type(error), str(error)[:200])) from None
        return _parse_claims(claims)


def _parse_claims(claims: Mapping[str, Any]) -> WorkflowClaims:
    numbers = [get_text(claims, name) for name in ("repository_id", "run_id")]
    if not all(number.isascii() and number.isdigit() and len(number) < 19 for number in numbers):
        raise _refuse("repository_id and run_id must be numbers")
    files = (get_text(claims, name) for name in ("workflow_ref", "job_workflow_ref"))
    return WorkflowClaims(
        repository_id=int(numbers[0]),
        repository=get_text(claims, "repository"),
        run_id=int(numbers[1]),
        workflow=get_text(claims, "workflow")[:100] or "workflow",
        files=tuple(file for file in files if file),
    )


def _refuse(reason: str) -> ApiError:
    return ApiError(401, f"The OIDC token is refused: {reason}.", {"WWW-Authenticate": "Bearer"})


@dataclass(frozen=True, slots=True)
class PullRequestHeads:
    """The heads that a pull request had, as far as known, and the branch that it is for."""

    number: int
    base: str
    heads: frozenset[str]


async def find_validated_head(
    github: GitHub, repository: Repository, pull_request: PullRequestHeads, claims: WorkflowClaims
) -> str:
    """Return the head that a workflow run is about; raises `ApiError` if it may not validate it.

    The run's own workflow must be the base branch's: else the author of a pull request could have it
    hand in a clean result.
    """
    try:
        run = await github.workflow_run(repository, claims.run_id)
    except NotFound:
        raise ApiError(403, f"GitHub has no run {claims.run_id} of a workflow in this repository.") from None
    except Forbidden:
        raise ApiError(
            403, "The App may not read workflow runs: accept its permission “Actions: read-only”."
        ) from None
    if run.head_repository_id != repository.id:
        raise ApiError(403, "The run is for a commit of a fork; to validate forks, use a token.")
    if not await _is_head(github, repository, pull_request, run.head):
        raise ApiError(
            403,
            f"The run is for {run.head[:7]}, which is not a head of this pull request; "
            "run the workflow on pull_request or push.",
        )
    try:
        comparison = await github.comparison(repository, pull_request.base, run.head)
    except NotFound:
        raise ApiError(403, "GitHub no longer has the base branch, or the commit of the run.") from None
    for path in _own_files(repository, (*claims.files, *run.files)):
        before, after = await asyncio.gather(
            github.file(repository, path, comparison.base), github.file(repository, path, run.head)
        )
        if before is None or before != after:
            raise ApiError(
                403,
                f"The pull request changes {path}, which this run came from: its result counts "
                "once that change is on the base branch.",
            )
    return run.head


async def _is_head(github: GitHub, repository: Repository, pull_request: PullRequestHeads, head: str) -> bool:
    # The delivery of the push may still be on its way.
    return head in pull_request.heads or (
        await github.pull_request(repository, pull_request.number)
    ).head == (head)


def _own_files(repository: Repository, files: tuple[str, ...]) -> tuple[str, ...]:
    """Return the workflow files that are in this repository; those of others it can't change."""
    prefix = f"{repository.full_name}/".lower()
    paths = (file.partition("@")[0] for file in files)
    return tuple(dict.fromkeys(path[len(prefix) :] for path in paths if path.lower().startswith(prefix)))
