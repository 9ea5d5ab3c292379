"""What stands in a pull request's thread, read with the reader's own token?"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import aiohttp

from bot.adapters.github.errors import Asked, BadToken, Refusals
from bot.adapters.github.tokens import Token
from bot.adapters.github.wire import Api, Wire, remembered
from bot.adapters.payloads.fields import find, text
from bot.domain.spoken import Spoken
from bot.ports import Forbidden

_PATH = "/repos/{owner}/{repo}/issues/{number}/comments?per_page=100"


async def comments(
    api_url: str, token: str | None, repository: tuple[str, str], number: int, *, seconds: float = 10
) -> tuple[Spoken, ...]:
    """All comments of the thread, oldest first."""
    owner, name = repository
    asked = Asked(f"GET {_PATH.partition('?')[0]} in {owner}/{name}", "pull_requests=read", 0)
    shown = Token(token, datetime.now(UTC) + timedelta(hours=1)) if token else None
    timeout = aiohttp.ClientTimeout(total=seconds)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        wire = Wire(session, api_url, api_url, Refusals(lambda: datetime.now(UTC)), remembered())
        try:
            found = await Api(wire, asked, shown).items(_PATH, owner=owner, repo=name, number=number)
        except BadToken as error:
            raise Forbidden(f"{error}; GH_TOKEN is not good, or not good any more") from error
    return tuple(
        Spoken(
            login=text(each, "user.login"),
            bot=find(each, "user.type") == "Bot",
            body=text(each, "body"),
            url=text(each, "html_url"),
        )
        for each in found
    )
