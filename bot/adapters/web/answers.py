"""How an answer looks: JSON where it went well, problem+json where it did not."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import msgspec
from aiohttp import web

JSON = "application/json"
PROBLEM = "application/problem+json"


def answer(status: int, content: dict[str, Any]) -> web.Response:
    """The content as JSON."""
    return web.Response(status=status, body=msgspec.json.encode(content), content_type=JSON)


def problem(status: int, detail: str) -> web.Response:
    """What is wrong with the request, in the form of RFC 9457."""
    content = {"title": HTTPStatus(status).phrase, "status": status, "detail": detail}
    return web.Response(status=status, body=msgspec.json.encode(content), content_type=PROBLEM)
