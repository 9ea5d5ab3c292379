"""JSON and problem+json responses, ETags, pagination, and the templates of pages."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from aiohttp import web

from bot.github.errors import GitHubError, RateLimited

if TYPE_CHECKING:
    from jinja2 import Environment

JSON_TYPE = "application/json"
PROBLEM_TYPE = "application/problem+json"


def json_response(status: int, content: dict[str, Any]) -> web.Response:
    """The content as JSON."""
    return web.Response(status=status, body=msgspec.json.encode(content), content_type=JSON_TYPE)


def problem_response(status: int, detail: str, extra: Mapping[str, Any] | None = None) -> web.Response:
    """A problem with the request, in the form of RFC 9457."""
    content = {"title": HTTPStatus(status).phrase, "status": status, "detail": detail, **(extra or {})}
    return web.Response(status=status, body=msgspec.json.encode(content), content_type=PROBLEM_TYPE)


def has_token(request: web.Request, token: str | None) -> bool:
    """Whether the caller shows the operator's token, `METRICS_TOKEN`."""
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    if not token or scheme.lower() != "bearer":
        return False
    # Bytes, because comparing a str with letters outside ASCII raises.
    return hmac.compare_digest(given.strip().encode("utf-8", "replace"), token.encode())


@cache
def _templates() -> Environment:
    # Imported here: most servers are never looked at.
    import jinja2

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=True,
        trim_blocks=True,
        undefined=jinja2.StrictUndefined,
    )


def page_response(
    template: str, context: Mapping[str, Any], *, status: int = 200, form_to: str | None = None
) -> web.Response:
    """A whole page that loads nothing from anywhere; with `form_to` it has scripts, and forms to there."""
    nonce = secrets.token_urlsafe(12)
    text = _templates().get_template(template).render(nonce=nonce, **context)
    scripts = f"script-src 'nonce-{nonce}'; connect-src 'self'; form-action 'self' {form_to}; "
    headers = {
        "Content-Security-Policy": (
            f"default-src 'none'; style-src 'nonce-{nonce}'; {'' if form_to is None else scripts}"
            "frame-ancestors 'none'; base-uri 'none'"
        ),
        "Cache-Control": "no-store",
        # Not `no-referrer` where there are forms: with that, they would not say from which origin they come.
        "Referrer-Policy": "no-referrer" if form_to is None else "same-origin",
        "X-Content-Type-Options": "nosniff",
    }
    return web.Response(text=text, content_type="text/html", status=status, headers=headers)


class ApiError(Exception):
    """The caller's mistake, or a temporary failure."""

    def __init__(
        self,
        status: int,
        detail: str,
        headers: Mapping[str, str] | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = dict(headers or {})
        self.extra = extra

    def response(self) -> web.Response:
        """The error in the form of RFC 9457."""
        response = problem_response(self.status, self.detail, self.extra)
        response.headers.update(self.headers)
        return response


def unauthorized() -> ApiError:
    """401: no token, or one that GitHub does not know."""
    return ApiError(
        401,
        "Send a GitHub token that can read this repository's metadata: Authorization: Bearer <token>.",
        {"WWW-Authenticate": "Bearer"},
    )


def api_not_found(what: str = "The repository does not exist, or this token can't read it.") -> ApiError:
    """404: nothing there, or nothing that the caller may see."""
    return ApiError(404, what)


def too_many_requests(seconds: float, what: str = "Too many requests with this token") -> ApiError:
    """429: with the seconds to wait."""
    wait = str(max(1, round(seconds)))
    return ApiError(429, f"{what}; wait {wait} s.", {"Retry-After": wait})


def github_unavailable(error: GitHubError, now: datetime) -> ApiError:
    """503: GitHub did not answer; with the seconds to wait where they are known."""
    if not isinstance(error, RateLimited):
        return ApiError(503, "GitHub is unavailable. Try again later.")
    wait = str(max(1, round((error.until - now).total_seconds())))
    return ApiError(503, f"GitHub's rate limit is reached. Try again in {wait} s.", {"Retry-After": wait})


PageItem = TypeVar("PageItem")

PER_PAGE = 30
MAX_PER_PAGE = 100
_LAST_PAGE = 1_000_000


def cached_response(
    request: web.Request,
    content: Any,
    *,
    links: Mapping[str, str] | None = None,
    content_type: str = JSON_TYPE,
) -> web.Response:
    """The content, or 304 where the caller has it already."""
    body = content.encode() if isinstance(content, str) else msgspec.json.encode(content)
    etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {"ETag": etag, "Cache-Control": "private, no-cache", "Vary": "Authorization", **(links or {})}
    cached_tags = {tag.value for tag in request.if_none_match or ()}
    if cached_tags & {etag.strip('"'), "*"}:
        return web.Response(status=304, headers=headers)
    charset = "utf-8" if content_type.startswith("text/") else None
    return web.Response(body=body, content_type=content_type, charset=charset, headers=headers)


def paginate(request: web.Request, items: Sequence[PageItem]) -> tuple[Sequence[PageItem], dict[str, str]]:
    """Return the items of the requested page, and the `Link` header to the others."""
    page = query_integer(request, "page", 1, _LAST_PAGE)
    size = query_integer(request, "per_page", PER_PAGE, MAX_PER_PAGE)
    last = max(1, -(-len(items) // size))
    others = {"prev": page - 1, "next": page + 1, "first": 1, "last": last}
    targets = {name: to for name, to in others.items() if 1 <= to <= last and to != page}
    url = request.rel_url
    links = ", ".join(f'<{url.update_query(page=str(to))}>; rel="{name}"' for name, to in targets.items())
    return items[(page - 1) * size : page * size], {"Link": links} if links else {}


def query_integer(request: web.Request, name: str, default: int, maximum: int) -> int:
    """Read a positive integer from the query."""
    number = parse_integer(request.query.get(name, str(default)), maximum)
    if number is None:
        raise ApiError(400, f"{name} must be an integer from 1 to {maximum}.")
    return number


def parse_integer(text: str, maximum: int) -> int | None:
    """Parse a positive integer; None for anything else."""
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= 10 else 0
    return number if 1 <= number <= maximum else None
