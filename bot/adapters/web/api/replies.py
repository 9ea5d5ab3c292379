"""How an answer of the API looks: JSON with an ETag, a page at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from aiohttp import web
from yarl import URL

from bot.adapters.web.answers import JSON
from bot.adapters.web.api.refusals import Refusal

Item = TypeVar("Item")

PER_PAGE = 30
MOST_PER_PAGE = 100
_LAST_PAGE = 1_000_000


def reply(
    request: web.Request, content: Any, *, links: Mapping[str, str] | None = None, content_type: str = JSON
) -> web.Response:
    """The content, or 304 where the caller has it already."""
    body = content.encode() if isinstance(content, str) else msgspec.json.encode(content)
    etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {"ETag": etag, "Cache-Control": "private, no-cache", "Vary": "Authorization", **(links or {})}
    known = {tag.value for tag in request.if_none_match or ()}
    if known & {etag.strip('"'), "*"}:
        return web.Response(status=304, headers=headers)
    charset = "utf-8" if content_type.startswith("text/") else None
    return web.Response(body=body, content_type=content_type, charset=charset, headers=headers)


def page_of(request: web.Request, items: Sequence[Item]) -> tuple[Sequence[Item], dict[str, str]]:
    """The items of the page that was asked for, and the `Link` header to the others."""
    page = number(request, "page", 1, _LAST_PAGE)
    size = number(request, "per_page", PER_PAGE, MOST_PER_PAGE)
    last = max(1, -(-len(items) // size))
    others = {"prev": page - 1, "next": page + 1, "first": 1, "last": last}
    wanted = {name: to for name, to in others.items() if 1 <= to <= last and to != page}
    links = ", ".join(f'<{_address(request.rel_url, to)}>; rel="{name}"' for name, to in wanted.items())
    return items[(page - 1) * size : page * size], {"Link": links} if links else {}


def number(request: web.Request, name: str, default: int, most: int) -> int:
    """A whole number of the query from 1 on."""
    given = request.query.get(name)
    if given is None:
        return default
    if not (given.isascii() and given.isdigit() and len(given) <= 9 and 1 <= int(given) <= most):
        raise Refusal(400, f"{name} is a whole number from 1 to {most}.")
    return int(given)


def _address(url: URL, page: int) -> str:
    return str(url.update_query(page=str(page)))
