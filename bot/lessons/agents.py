"""Read which coding agent signed a commit or a description, by the exact lines of `rules/agents.yml`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

from bot.gates.packs import rules_directory
from bot.gates.rule_files import parse_rule_file
from bot.pull_request.model import PullRequest, WrittenBy

_MAX_GAP = 60  # characters of a model's name or an id
_MIN_LINE = 20  # characters; no signature is shorter
_MODEL_SIGNS = frozenset(" .()/:_-+")
_FENCES = ("```", "~~~")


@dataclass(frozen=True, slots=True)
class Signature:
    """A line by which an agent signs, with one gap in it that differs each time."""

    agent: str
    before: str
    after: str
    is_model: bool

    def read(self, line: str) -> WrittenBy | None:
        """Return who signed with this line; None for any other line."""
        if not (line.startswith(self.before) and line.endswith(self.after)):
            return None
        value = line[len(self.before) : len(line) - len(self.after)]
        if not 0 < len(value) <= _MAX_GAP or not all(
            map(_is_model_sign if self.is_model else _is_solid, value)
        ):
            return None
        return WrittenBy(self.agent, value if self.is_model else None)


@dataclass(frozen=True, slots=True)
class AgentTable:
    """The signatures of all agents, with texts that are signed and texts that are not."""

    lines: Mapping[str, str]
    """Whole lines, and the agent that signs with each."""
    signatures: tuple[Signature, ...]
    examples: tuple[tuple[str, WrittenBy], ...]
    unsigned: tuple[str, ...]

    def read(self, text: str) -> tuple[WrittenBy, ...]:
        """Return the agents that signed the text, each once."""
        return merge_marks(mark for line in _plain_lines(text) if (mark := self._read_line(line)))

    def _read_line(self, line: str) -> WrittenBy | None:
        if agent := self.lines.get(line):
            return WrittenBy(agent)
        marks = (signature.read(line) for signature in self.signatures)
        return next(filter(None, marks), None)


def merge_marks(marks: Iterable[WrittenBy]) -> tuple[WrittenBy, ...]:
    """Return each agent once; without a model only where no mark of it names one."""
    every = tuple(dict.fromkeys(marks))
    modelled = {mark.agent for mark in every if mark.model}
    return tuple(mark for mark in every if mark.model or mark.agent not in modelled)


def parse_agents(data: bytes, file: str) -> AgentTable:
    """Return the table in the text; raise `RuleFileError` with all its problems."""
    values = parse_rule_file(data, file, "rules/agents")
    entries = values["signatures"].items()
    lines = [(name, _fold_trailer(line)) for name, agent in entries for line in agent["lines"]]
    return AgentTable(
        {line: name for name, line in lines if "{" not in line},
        tuple(_signature(name, line) for name, line in lines if "{" in line),
        tuple(
            (case["text"], WrittenBy(name, case.get("model")))
            for name, agent in entries
            for case in agent["examples"]
        ),
        tuple(values["unsigned"]),
    )


@cache
def shipped_agents() -> AgentTable:
    """Return the table that comes with the product."""
    path = rules_directory() / "agents.yml"
    return parse_agents(path.read_bytes(), str(path))


def read_agents(texts: Iterable[str]) -> tuple[WrittenBy, ...]:
    """Return the agents that signed any of these texts."""
    table = shipped_agents()
    return merge_marks(mark for text in texts for mark in table.read(text))


def record_agents(pull_request: PullRequest, descriptions: Iterable[str]) -> PullRequest:
    """Add the agents that signed any of these descriptions."""
    marks = read_agents(descriptions)
    if not marks:
        return pull_request
    return replace(pull_request, written_by=merge_marks((*pull_request.written_by, *marks)))


def _signature(agent: str, line: str) -> Signature:
    gap = "{model}" if "{model}" in line else "{id}"
    before, _, after = line.partition(gap)
    return Signature(agent, before, after, is_model=gap == "{model}")


def _fold_trailer(line: str) -> str:
    """Return the line with the name of a trailer in lower case: git reads it in any."""
    name, colon, value = line.partition(": ")
    return f"{name.lower()}: {value}" if colon and " " not in name else line


def _is_solid(sign: str) -> bool:
    return not sign.isspace()


def _is_model_sign(sign: str) -> bool:
    return sign.isascii() and (sign.isalnum() or sign in _MODEL_SIGNS)


def _plain_lines(text: str) -> Iterator[str]:
    """Yield the lines outside fenced code; indented and quoted ones equal no signature."""
    fence = ""
    for line in text.splitlines():
        start = line.lstrip()[:3]
        if start in _FENCES and fence in ("", start):
            fence = "" if fence else start
        elif not fence and len(line) >= _MIN_LINE:
            yield _fold_trailer(line.rstrip())
