"""What stands in a pull request's thread, read with the reader's own token?"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import aiohttp

from bot.adapters.github.errors import Asked, BadToken, Refusals
from bot.adapters.github.tokens import Token
from bot.adapters.github.wire import Api, Wire, remembered
from bot.adapters.payloads.fields import find, text
from bot.domain.spoken import Spoken
from bot.ports import Forbidden, Gone, RateLimited, Refused

_UNSET = "GH_TOKEN is not set, and without it only public threads can be read, and few of them"
_BAD = "GH_TOKEN is not good, or not good any more"
_BLIND = "there is no such thread, or GH_TOKEN may not read it"
_PATH = "/repos/{owner}/{repo}/issues/{number}/comments?per_page=100"


async def comments(
    api_url: str, token: str | None, repository: tuple[str, str], number: int, *, seconds: float = 10
) -> tuple[Spoken, ...]:
    """All comments of the thread, oldest first."""
    owner, name = repository
    asked = Asked(f"the comments of {owner}/{name}#{number}", "pull_requests=read", 0)
    shown = Token(token, datetime.now(UTC) + timedelta(hours=1)) if token else None
    timeout = aiohttp.ClientTimeout(total=seconds)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        wire = Wire(session, api_url, api_url, Refusals(lambda: datetime.now(UTC)), remembered())
        try:
            found = await Api(wire, asked, shown).items(_PATH, owner=owner, repo=name, number=number)
        except BadToken as error:
            raise Forbidden(f"{error}; {_UNSET if token is None else _BAD}") from error
        except (Forbidden, Gone, RateLimited) as error:
            raise Refused(f"{error}; {_UNSET if token is None else _BLIND}") from error
    return tuple(
        Spoken(
            login=text(each, "user.login"),
            bot=find(each, "user.type") == "Bot",
            body=text(each, "body"),
            url=text(each, "html_url"),
        )
        for each in found
    )
