"""The loose ends of SARIF: which rule a result breaks, and what its message says."""

from __future__ import annotations

from typing import Any, TypeGuard

from bot.domain import regex

LONGEST = 2000
"""Characters of a message that are kept."""

_LINK = regex.Pattern(r"\[((?:[^\[\]\\]|\\.)+)\]\([0-9]{1,9}\)")
_SLOT = regex.Pattern(r"\{([0-9]{1,3})\}")


class Rules:
    """The rules that a run's tool and its plug-ins describe."""

    def __init__(self, run: dict[str, Any]) -> None:
        tool = obj(run.get("tool"))
        parts = [obj(tool.get("driver")), *map(obj, listed(tool.get("extensions")))]
        self._lists = [[obj(rule) for rule in listed(part.get("rules"))] for part in parts]
        self._by_name: dict[str, dict[str, Any]] = {}
        for rules in self._lists:
            for rule in rules:
                self._by_name.setdefault(text(rule.get("id")), rule)

    def of(self, result: dict[str, Any]) -> tuple[dict[str, Any], str]:
        """The description of the rule that the result breaks, empty where there is none, and its name."""
        reference = obj(result.get("rule"))
        name = text(result.get("ruleId")) or text(reference.get("id"))
        rule = self._by_name.get(name) or self._by_name.get(name.rpartition("/")[0]) or {}
        if not rule:
            rule = self._at(reference, result.get("ruleIndex", reference.get("index")))
        return rule, name or text(rule.get("id"))

    def _at(self, reference: dict[str, Any], index: object) -> dict[str, Any]:
        extension = obj(reference.get("toolComponent")).get("index")
        number_of_list = extension + 1 if _is_index(extension) else 0
        rules = self._lists[number_of_list] if number_of_list < len(self._lists) else []
        return rules[index] if _is_index(index) and index < len(rules) else {}


def message(said: object, rule: dict[str, Any]) -> str:
    """What a message says: its own text, or the rule's text of that name with its arguments filled in."""
    stated = obj(said)
    whole = text(stated.get("text")) or text(stated.get("markdown"))
    if not whole:
        named = obj(obj(rule.get("messageStrings")).get(text(stated.get("id"))))
        whole = text(named.get("text")) or text(named.get("markdown"))
    whole = whole[:LONGEST]
    # A text may name an argument hundreds of times.
    arguments = [text(argument)[:LONGEST] for argument in listed(stated.get("arguments"))]
    if arguments:
        whole = _SLOT.sub(lambda slot: _argument(slot, arguments), whole)
    return _LINK.sub(lambda link: str(link[1]), whole[:LONGEST]).strip()


def obj(value: object) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def listed(value: object) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def text(value: object) -> str:
    """The value if it is a text, else an empty one; half of a surrogate pair becomes a question mark."""
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""


def number(value: object) -> int | None:
    """The value if it can be a line or a column."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**31 else None


def _argument(slot: regex.Match, arguments: list[str]) -> str:
    index = int(slot[1])
    return arguments[index] if index < len(arguments) else str(slot[0])


def _is_index(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
