"""What a schema can't say about a config: names that nothing has, and what contradicts each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from bot.adapters.rule_files.nodes import Entry, Node, Scalar, Sequence, entries, entry_at
from bot.adapters.rule_files.nodes import Mapping as MappingNode
from bot.adapters.rule_files.shape import choice, quoted, schema
from bot.domain.gates import Gates, is_tag, nearest
from bot.domain.phrases import PhraseError, occur
from bot.domain.problems import Problem
from bot.domain.prose import Kind, mask
from bot.domain.rules import DEFAULTS

_NEEDED = tuple(schema("pack")["$defs"]["gate"]["required"])
_NOT_SAID = tuple(kind for kind in Kind if kind is not Kind.TEXT)
_CLAIM_LISTS = ("mandatory_grounding", "recommended_grounding", "grounding_not_required")
_PAIRS = (
    (
        ("iterations", "diff_size"),
        "min",
        "max",
        (DEFAULTS.iterations.diff_size.min, DEFAULTS.iterations.diff_size.max),
    ),
    (
        ("iterations", "escalate"),
        "repeats",
        "window",
        (DEFAULTS.iterations.escalate.repeats, DEFAULTS.iterations.escalate.window),
    ),
)


def faults(
    root: MappingNode, file: str, packs: Mapping[str, Gates], below: tuple[MappingNode, ...]
) -> tuple[Problem, ...]:
    """Every name without a meaning and every contradiction in a config, given the files that it lies over.

    Parts that are not of the schema's shape are passed over, so that both kinds are found in one go.
    """
    look = _Look(root, file, packs, below)
    return tuple(
        chain(
            look.packs_that_are_not(),
            look.gates_by_halves(),
            look.tags_of_no_gate(),
            look.contradictions(),
            look.examples_of_nothing(),
        )
    )


@dataclass(frozen=True, slots=True)
class _Look:
    root: MappingNode
    file: str
    packs: Mapping[str, Gates]
    below: tuple[MappingNode, ...]

    def packs_that_are_not(self) -> Iterator[Problem]:
        for index, item in enumerate(_items(entry_at(self.root, "extends"))):
            if isinstance(item.value, str) and item.value not in self.packs:
                yield self._problem(
                    item,
                    f"extends[{index}] is {item.value}, which is no pack",
                    choice(item.value, self.packs),
                )

    def gates_by_halves(self) -> Iterator[Problem]:
        """Find gates that are in no pack and lack what a new gate needs."""
        known = self._tags_in_force()
        for entry in entries(self.root, "gates"):
            if not is_tag(entry.key) or entry.key in known:
                continue
            near = nearest(entry.key, known)
            what = f"gates.{entry.key} is in no pack"
            if isinstance(entry.node, Scalar):
                yield self._problem(
                    entry, what, f"did you mean {near}?" if near else "only a known gate can be off"
                )
            elif missing := [key for key in _NEEDED if entry_at(entry.node, key) is None]:
                needs = f"{f'did you mean {near}? A' if near else 'a'} new gate needs {', '.join(_NEEDED)}"
                yield self._problem(entry, f"{what} and has no {', '.join(missing)}", needs)

    def tags_of_no_gate(self) -> Iterator[Problem]:
        known = (*chain.from_iterable(pack.tags for pack in self.packs.values()), *self._own_tags())
        for path, node in self._mapped_tags():
            if isinstance(node.value, str) and is_tag(node.value) and node.value not in known:
                near = nearest(node.value, known)
                hint = f"did you mean {near}?" if near else "use the tag of a gate, or add it under gates"
                yield self._problem(node, f"{path} is {node.value}, which no gate has", hint)

    def contradictions(self) -> Iterator[Problem]:
        for path, low, high, defaults in _PAIRS:
            least, most = self._number(low, path, defaults[0]), self._number(high, path, defaults[1])
            given = entry_at(self.root, *path, low) or entry_at(self.root, *path, high)
            if given and least > most:
                name = ".".join(path)
                yield self._problem(
                    given, f"{name}.{low} is {least}, {name}.{high} is {most}", f"{low} is at most {high}"
                )
        seen: dict[object, str] = {}
        for key in _CLAIM_LISTS:
            for item in _items(entry_at(self.root, "grounding", "grounding_rules", key)):
                if item.value in seen and seen[item.value] != key:
                    yield self._problem(
                        item, f"{key} and {seen[item.value]} both name {item.value}", "name it in one"
                    )
                seen.setdefault(item.value, key)

    def examples_of_nothing(self) -> Iterator[Problem]:
        """Find examples of cues that have not got the cue's phrase where the detector looks for it."""
        cues = entry_at(self.root, "detection", "cues")
        listed = cues.node.items if cues and isinstance(cues.node, Sequence) else ()
        for index, cue in enumerate(listed):
            phrase, example = (_text(entry_at(cue, key)) for key in ("phrase", "example"))
            if phrase and example and not _has(str(example.value), str(phrase.value)):
                what = f"detection.cues[{index}].example has not got its phrase {quoted(str(phrase.value))}"
                yield self._problem(example, what, "write a sentence that has it, outside code and quotes")

    def _tags_in_force(self) -> tuple[str, ...]:
        layers = (self.root, *reversed(self.below))
        chosen = next((layer for layer in layers if layer.get("extends")), None)
        names = [item.value for item in _items(entry_at(chosen, "extends"))] if chosen else DEFAULTS.extends
        packs = [self.packs[str(name)] for name in names if name in self.packs]
        tags = chain.from_iterable(pack.tags for pack in packs)
        return (*tags, *(entry.key for layer in self.below for entry in entries(layer, "gates")))

    def _own_tags(self) -> Iterator[str]:
        return (entry.key for layer in (*self.below, self.root) for entry in entries(layer, "gates"))

    def _mapped_tags(self) -> Iterator[tuple[str, Scalar]]:
        for check in entries(self.root, "validators", "checks"):
            path = f"validators.checks.{check.key}"
            short = isinstance(check.node, Sequence)
            listed, at = (check, path) if short else (entry_at(check.node, "tags"), f"{path}.tags")
            yield from ((f"{at}[{index}]", item) for index, item in enumerate(_items(listed)))
            for mapped in entries(check.node, "annotations"):
                if isinstance(mapped.node, Scalar):
                    yield f"{path}.annotations.{mapped.key}", mapped.node
        for mapped in entries(self.root, "validators", "sarif"):
            if isinstance(mapped.node, Scalar):
                yield f"validators.sarif.{mapped.key}", mapped.node

    def _number(self, key: str, path: tuple[str, ...], default: float) -> float:
        for layer in (self.root, *reversed(self.below)):
            entry = entry_at(layer, *path, key)
            if entry and isinstance(entry.node, Scalar) and isinstance(entry.node.value, (int, float)):
                return entry.node.value
        return default

    def _problem(self, at: Node | Entry, what: str, allowed: str) -> Problem:
        return Problem(self.file, at.line, at.column, what, allowed)


def _items(entry: Entry | None) -> tuple[Scalar, ...]:
    node = entry.node if entry else None
    return (
        tuple(item for item in node.items if isinstance(item, Scalar)) if isinstance(node, Sequence) else ()
    )


def _text(entry: Entry | None) -> Scalar | None:
    node = entry.node if entry else None
    return node if isinstance(node, Scalar) and isinstance(node.value, str) else None


def _has(example: str, phrase: str) -> bool:
    try:
        return occur((phrase,), mask(example, *_NOT_SAID))
    except PhraseError:
        return True  # that the phrase is none is said elsewhere
