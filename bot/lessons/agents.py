"""Read which coding agent signed a commit or a description, by the exact lines of `rules/agents.yml`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache

from bot import regex
from bot.gates.packs import rules_directory
from bot.gates.rule_files import parse_rule_file
from bot.pull_request.model import PullRequest, WrittenBy

_MIN_LINE = 20  # characters; no signature is shorter
_GAPS = {"{model}": r"(?P<model>[0-9A-Za-z .()/:_+-]{1,60})", "{id}": r"[^\s]{1,60}"}
_FENCES = ("```", "~~~")


Signatures = tuple[tuple[str, regex.Regex], ...]
"""The lines by which agents sign, each with the agent; one that names its model has it in a group."""


def merge_marks(marks: Iterable[WrittenBy]) -> tuple[WrittenBy, ...]:
    """Return each agent once; without a model only where no mark of it names one."""
    every = tuple(dict.fromkeys(marks))
    modelled = {mark.agent for mark in every if mark.model}
    return tuple(mark for mark in every if mark.model or mark.agent not in modelled)


def parse_agents(data: bytes, file: str) -> Signatures:
    """Return the signatures in the text; raise `RuleFileError` with all its problems."""
    signatures = parse_rule_file(data, file, "rules/agents")["signatures"]
    return tuple((name, _pattern(line)) for name, agent in signatures.items() for line in agent["lines"])


@cache
def shipped_agents() -> Signatures:
    """Return the signatures that come with the product."""
    path = rules_directory() / "agents.yml"
    return parse_agents(path.read_bytes(), str(path))


def read_agents(texts: Iterable[str]) -> tuple[WrittenBy, ...]:
    """Return the agents that signed any of these texts."""
    return merge_marks(
        WrittenBy(agent, match.groupdict().get("model"))
        for text in texts
        for line in _plain_lines(text)
        for agent, pattern in shipped_agents()
        if (match := pattern.fullmatch(line))
    )


def record_agents(pull_request: PullRequest, descriptions: Iterable[str]) -> PullRequest:
    """Add the agents that signed any of these descriptions."""
    marks = read_agents(descriptions)
    if not marks:
        return pull_request
    return replace(pull_request, written_by=merge_marks((*pull_request.written_by, *marks)))


def _pattern(line: str) -> regex.Regex:
    pattern = regex.escape(_fold_trailer(line))
    for gap, values in _GAPS.items():
        pattern = pattern.replace(regex.escape(gap), values)
    return regex.Regex(pattern)


def _fold_trailer(line: str) -> str:
    """Return the line with the name of a trailer in lower case: git reads it in any."""
    name, colon, value = line.partition(": ")
    return f"{name.lower()}: {value}" if colon and " " not in name else line


def _plain_lines(text: str) -> Iterator[str]:
    """Yield the lines outside fenced code; indented and quoted ones equal no signature."""
    fence = ""
    for line in text.splitlines():
        start = line.lstrip()[:3]
        if start in _FENCES and fence in ("", start):
            fence = "" if fence else start
        elif not fence and len(line) >= _MIN_LINE:
            yield _fold_trailer(line.rstrip())
