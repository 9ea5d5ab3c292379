"""What each type of claim is looked up with: read from YAML, or refused with everything that is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from bot.adapters.rule_files import nodes
from bot.adapters.rule_files.document import read
from bot.adapters.rule_files.nodes import Entry, Node, Scalar
from bot.domain.choices import ClaimType
from bot.domain.gates import nearest
from bot.domain.grounding.catalogue import ClaimRule
from bot.domain.grounding.result import Tool
from bot.domain.problems import Problem, RuleFileError

VERSION = 1

_TEXTS = ("verification", "would_verify", "mitigation")
_KEYS = ("tools", *_TEXTS)


def load_grounding(path: Path) -> Mapping[ClaimType, ClaimRule]:
    """Return the types of claims of this file; raises `RuleFileError` with all its problems."""
    return parse_grounding(path.read_bytes(), str(path))


def parse_grounding(data: bytes, file: str) -> Mapping[ClaimType, ClaimRule]:
    """Return the types of claims that the text holds."""
    root = read(data, file)
    problems = tuple(_problems(root, file))
    if problems:
        raise RuleFileError(tuple(sorted(problems, key=lambda problem: (problem.line, problem.column))))
    claims = nodes.plain(root)["claims"]
    return {ClaimType(kind): _rule(said) for kind, said in claims.items()}


def _rule(said: Mapping[str, object]) -> ClaimRule:
    listed = said.get("tools")
    tools = tuple(Tool(str(tool)) for tool in listed) if isinstance(listed, list | tuple) else ()
    verification, would_verify, mitigation = (str(said.get(key) or "") for key in _TEXTS)
    return ClaimRule(tools, verification, would_verify, mitigation)


def _problems(root: nodes.Mapping, file: str) -> Iterator[Problem]:
    yield from _keys(root, "", ("grounding", "claims"), file)
    version = root.get("grounding")
    if version and not (isinstance(version.node, Scalar) and version.node.value == VERSION):
        yield _at(version.node, file, "grounding is another version", f"use {VERSION}")
    claims = root.get("claims")
    if claims is None or not isinstance(claims.node, nodes.Mapping):
        where = claims.node if claims else root
        yield _at(where, file, "claims is no mapping", "give it the types of claims")
        return
    yield from _keys(claims.node, "claims", tuple(ClaimType), file)
    missing = [kind.value for kind in ClaimType if claims.node.get(kind) is None]
    if missing:
        yield _at(claims.node, file, f"claims has no {', '.join(missing)}", "give every type")
    for entry in claims.node.entries:
        yield from _claim(entry, file)


def _claim(entry: Entry, file: str) -> Iterator[Problem]:
    path = f"claims.{entry.key}"
    if not isinstance(entry.node, nodes.Mapping):
        yield _at(entry.node, file, f"{path} is no mapping", f"give it {', '.join(_KEYS)}")
        return
    yield from _keys(entry.node, path, _KEYS, file)
    if entry.node.get("would_verify") is None:
        yield _at(entry.node, file, f"{path} has no would_verify", "say what would confirm such a claim")
    for below in entry.node.entries:
        if below.key in _TEXTS and not (isinstance(below.node, Scalar) and isinstance(below.node.value, str)):
            yield _at(below.node, file, f"{path}.{below.key} is no text", "write a few words")
        if below.key == "tools":
            yield from _tools(below, path, file)


def _tools(entry: Entry, path: str, file: str) -> Iterator[Problem]:
    allowed = f"use a list of {', '.join(Tool)}"
    tools = nodes.plain(entry.node)
    if not isinstance(tools, list | tuple):
        yield _at(entry.node, file, f"{path}.tools is no list", allowed)
        return
    for tool in tools:
        if tool not in set(Tool):
            yield _at(entry.node, file, f"{path}.tools has {tool}", allowed)


def _keys(node: nodes.Mapping, path: str, known: tuple[str, ...], file: str) -> Iterator[Problem]:
    for entry in node.entries:
        if entry.key not in known:
            near = nearest(entry.key, known)
            allowed = f"did you mean {near}?" if near else f"use one of {', '.join(known)}"
            what = f"{path}.{entry.key}".lstrip(".") + " is unknown"
            yield Problem(file, entry.line, entry.column, what, allowed)


def _at(node: Node, file: str, what: str, allowed: str) -> Problem:
    return Problem(file, node.line, node.column, what, allowed)
