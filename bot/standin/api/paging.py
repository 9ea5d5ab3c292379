"""Which page of a list is asked for, and where are the others?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar
from urllib.parse import urlencode

from bot.standin.api.call import Answer, Call

Item = TypeVar("Item")

_DEFAULT, _LARGEST = 30, 100


def page(call: Call, items: Iterable[Item], written: Callable[[Item], object]) -> Answer:
    """The asked page of a list, with the addresses of the others in the `Link` header."""
    shown, headers = cut(call, items)
    return Answer([written(each) for each in shown], headers=headers)


def cut(call: Call, items: Iterable[Item]) -> tuple[list[Item], Mapping[str, str]]:
    """The asked page, and the header that leads to the others."""
    everything = list(items)
    size = page_size(call)
    number = max(_whole(call.query.get("page"), 1), 1)
    last = max(-(-len(everything) // size), 1)
    links: dict[str, int] = {}
    if number > 1:
        links |= {"prev": number - 1, "first": 1}
    if number < last:
        links |= {"next": number + 1, "last": last}
    shown = everything[(number - 1) * size : number * size]
    if not links:
        return shown, {}
    return shown, {"Link": ", ".join(f'<{_address(call, to)}>; rel="{name}"' for name, to in links.items())}


def page_size(call: Call) -> int:
    """How many items a page is asked to have."""
    return min(max(_whole(call.query.get("per_page"), _DEFAULT), 1), _LARGEST)


def _address(call: Call, number: int) -> str:
    return f"{call.url}?{urlencode({**call.query, 'page': number})}"


def _whole(text: str | None, otherwise: int) -> int:
    return int(text) if text is not None and text.isdecimal() else otherwise
