"""Load a repository's config, check its references, and merge it over the organization's and the defaults."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from itertools import chain
from pathlib import Path
from typing import Any

from bot.gates.config import (
    AnnotationRule,
    CheckKind,
    CheckPolicy,
    CheckRule,
    CheckRunRules,
    ClaimType,
    CueRule,
    DetectionConfig,
    DiffSizeBand,
    EscalationRules,
    GroundingRules,
    RepositoryRules,
    ToolRule,
    ValidatorRules,
)
from bot.gates.model import Gates, PhraseError, has_phrase, is_tag, nearest_word
from bot.gates.packs import (
    change_gate,
    is_pack,
    load_packs,
    new_gate,
    parse_pack,
    read_rule_file,
    rules_directory,
)
from bot.gates.problems import RuleFileError, RuleFileProblem
from bot.gates.rule_files import find_schema_problems, quote_value, read_yaml_document, suggest_choice
from bot.gates.schemas import load_schema
from bot.gates.yaml_reader import (
    YamlEntry,
    YamlMapping,
    YamlNode,
    YamlScalar,
    YamlSequence,
    entries,
    entry_at,
    to_plain,
)
from bot.markdown.blocks import SpanKind
from bot.markdown.spans import mask_hidden

ConfigValues = dict[str, Any]  # a mapping of a config that its schema has passed


def overlay_config(rules: RepositoryRules, config: ConfigValues) -> RepositoryRules:
    """Return the rules with every section of the config except its gates, which need the packs."""
    overlays: dict[str, Callable[[Any, ConfigValues], Any]] = {
        "validators": _overlay_validators,
        "grounding": _overlay_grounding,
        "detection": _overlay_detection,
        "check": _overlay_check,
    }
    sections = {
        name: (overlays.get(name) or _overlay)(getattr(rules, name), values)
        for name, values in config.items()
        if name != "gates"
    }
    return replace(rules, **sections)


def _overlay(old: Any, new: Any) -> Any:
    """Return the new value in the old one's type; of a section, field by field."""
    if is_dataclass(old) and not isinstance(old, type):
        return replace(old, **{key: _overlay(getattr(old, key), value) for key, value in new.items()})
    if isinstance(old, tuple):
        return tuple(new)
    return type(old)(new) if isinstance(old, (Enum, int, float)) else new


def _overlay_validators(old: ValidatorRules, new: ConfigValues) -> ValidatorRules:
    simple = {key: value for key, value in new.items() if key not in ("checks", "rules", "sarif")}
    severities = dict(old.app_severities)
    if isinstance(apps := new.get("apps"), dict):
        severities |= {name: app["blocking"] for name, app in apps.items() if "blocking" in (app or {})}
    checks = {rule.name: rule for rule in old.checks}
    checks |= {name: _check(name, values) for name, values in new.get("checks", {}).items()}
    tool_rules = {rule.rule: rule for rule in old.rules}
    mapped = {**new.get("sarif", {}), **new.get("rules", {})}
    tool_rules |= {rule: ToolRule(rule, tag) for rule, tag in mapped.items()}
    rules: ValidatorRules = _overlay(old, simple)
    return replace(
        rules, checks=tuple(checks.values()), rules=tuple(tool_rules.values()), app_severities=severities
    )


def _overlay_check(old: CheckRunRules, new: ConfigValues) -> CheckRunRules:
    """Return the rules of the check run; the older key `enabled` counts where `when` is not given."""
    if "when" in new:
        return replace(old, when=CheckPolicy(new["when"]))
    if "enabled" in new:
        return replace(old, when=CheckPolicy.ALWAYS if new["enabled"] else CheckPolicy.NEVER)
    return old


def _check(name: str, values: Any) -> CheckRule:
    if isinstance(values, list):
        return CheckRule(name, tuple(values))
    return CheckRule(
        name,
        tuple(values.get("tags", ())),
        tuple(AnnotationRule(phrase, tag) for phrase, tag in values.get("annotations", {}).items()),
        CheckKind(values["kind"]) if "kind" in values else None,
    )


def _overlay_detection(old: DetectionConfig, new: ConfigValues) -> DetectionConfig:
    cues = tuple(CueRule(**cue) for cue in new.get("cues", ())) if "cues" in new else old.cues
    simple = {key: value for key, value in new.items() if key != "cues"}
    config: DetectionConfig = _overlay(old, simple)
    return replace(config, cues=cues)


def _overlay_grounding(old: GroundingRules, new: ConfigValues) -> GroundingRules:
    protocol = new.get("verification_protocol", {})
    nested = (new, *protocol.values())
    names = {field.name for field in fields(GroundingRules)}
    simple = {key: value for part in nested for key, value in part.items() if key in names}
    return _overlay_claims(_overlay(old, simple), new.get("grounding_rules", {}))


def _overlay_claims(old: GroundingRules, new: ConfigValues) -> GroundingRules:
    """Move each type of claim to the list in which the config names it."""
    moved = {ClaimType(claim) for claims in new.values() for claim in claims}

    def claims_of(key: str, before: tuple[ClaimType, ...]) -> tuple[ClaimType, ...]:
        if key in new:
            return tuple(map(ClaimType, new[key]))
        return tuple(claim for claim in before if claim not in moved)

    return replace(
        old,
        mandatory=claims_of("mandatory_grounding", old.mandatory),
        recommended=claims_of("recommended_grounding", old.recommended),
        not_required=claims_of("grounding_not_required", old.not_required),
    )


_REQUIRED_KEYS = tuple(load_schema("pack")["$defs"]["gate"]["required"])
_HIDDEN_SPANS = tuple(kind for kind in SpanKind if kind is not SpanKind.TEXT)
_CLAIM_LISTS = ("mandatory_grounding", "recommended_grounding", "grounding_not_required")
_PAIRS = (
    (("iterations", "diff_size"), "min", "max", (DiffSizeBand().min, DiffSizeBand().max)),
    (("iterations", "escalate"), "repeats", "window", (EscalationRules().repeats, EscalationRules().window)),
)


def find_reference_problems(
    root: YamlMapping, file: str, packs: Mapping[str, Gates], below: tuple[YamlMapping, ...]
) -> tuple[RuleFileProblem, ...]:
    """Return every unknown name and every contradiction in a config, given the configs that it overlays.

    Parts that violate the schema are skipped, so that problems of both kinds are reported at once.
    """
    check = _ReferenceCheck(root, file, packs, below)
    return tuple(
        chain(
            check.unknown_packs(),
            check.incomplete_gates(),
            check.unknown_tags(),
            check.contradictions(),
            check.examples_without_phrase(),
        )
    )


@dataclass(frozen=True, slots=True)
class _ReferenceCheck:
    root: YamlMapping
    file: str
    packs: Mapping[str, Gates]
    below: tuple[YamlMapping, ...]

    def unknown_packs(self) -> Iterator[RuleFileProblem]:
        for index, item in enumerate(_items(entry_at(self.root, "extends"))):
            if isinstance(item.value, str) and item.value not in self.packs:
                yield self._problem(
                    item,
                    f"extends[{index}] is {item.value}, which is not a pack",
                    suggest_choice(item.value, self.packs),
                )

    def incomplete_gates(self) -> Iterator[RuleFileProblem]:
        """Find gates that are in no pack and lack a key of a new gate."""
        tags = self._inherited_tags()
        for entry in entries(self.root, "gates"):
            if not is_tag(entry.key) or entry.key in tags:
                continue
            near = nearest_word(entry.key, tags)
            what = f"gates.{entry.key} is not in any pack"
            if isinstance(entry.node, YamlScalar):
                yield self._problem(
                    entry,
                    what,
                    f"did you mean {near}?" if near else "only an existing gate can be turned off",
                )
            elif missing := [key for key in _REQUIRED_KEYS if entry_at(entry.node, key) is None]:
                needs = f"new gate needs {', '.join(_REQUIRED_KEYS)}"
                hint = f"did you mean {near}? A {needs}" if near else f"a {needs}"
                yield self._problem(entry, f"{what} and lacks {', '.join(missing)}", hint)

    def unknown_tags(self) -> Iterator[RuleFileProblem]:
        layers = (*self.below, self.root)
        tags = (
            *chain.from_iterable(pack.tags for pack in self.packs.values()),
            *(entry.key for layer in layers for entry in entries(layer, "gates")),
        )
        for path, node in self._mapped_tags():
            if isinstance(node.value, str) and is_tag(node.value) and node.value not in tags:
                near = nearest_word(node.value, tags)
                hint = (
                    f"did you mean {near}?"
                    if near
                    else "use an existing tag, or add a gate for it under gates"
                )
                yield self._problem(node, f"{path} is {node.value}, which is not the tag of any gate", hint)

    def contradictions(self) -> Iterator[RuleFileProblem]:
        for path, low, high, defaults in _PAIRS:
            least, most = self._number(low, path, defaults[0]), self._number(high, path, defaults[1])
            given = entry_at(self.root, *path, low) or entry_at(self.root, *path, high)
            if given and least > most:
                name = ".".join(path)
                yield self._problem(
                    given,
                    f"{name}.{low} is {least}, {name}.{high} is {most}",
                    f"{low} must not exceed {high}",
                )
        seen: dict[object, str] = {}
        for key in _CLAIM_LISTS:
            for item in _items(entry_at(self.root, "grounding", "grounding_rules", key)):
                if item.value in seen and seen[item.value] != key:
                    yield self._problem(
                        item, f"{key} and {seen[item.value]} both name {item.value}", "list it in one of them"
                    )
                seen.setdefault(item.value, key)

    def examples_without_phrase(self) -> Iterator[RuleFileProblem]:
        """Find examples of cues that lack the cue's phrase where the detector looks for it."""
        cues = entry_at(self.root, "detection", "cues")
        items = cues.node.items if cues and isinstance(cues.node, YamlSequence) else ()
        for index, cue in enumerate(items):
            phrase, example = (_text(entry_at(cue, key)) for key in ("phrase", "example"))
            if phrase and example and not _has_phrase(str(example.value), str(phrase.value)):
                quoted = quote_value(str(phrase.value))
                what = f"detection.cues[{index}].example does not contain its phrase {quoted}"
                yield self._problem(
                    example, what, "write a sentence that contains the phrase, outside code and quotes"
                )

    def _inherited_tags(self) -> tuple[str, ...]:
        layers = (self.root, *reversed(self.below))
        chosen = next((layer for layer in layers if layer.entries.get("extends")), None)
        names = (
            [item.value for item in _items(entry_at(chosen, "extends"))]
            if chosen
            else RepositoryRules().extends
        )
        packs = [self.packs[str(name)] for name in names if name in self.packs]
        tags = chain.from_iterable(pack.tags for pack in packs)
        return (*tags, *(entry.key for layer in self.below for entry in entries(layer, "gates")))

    def _mapped_tags(self) -> Iterator[tuple[str, YamlScalar]]:
        for check in entries(self.root, "validators", "checks"):
            path = f"validators.checks.{check.key}"
            is_list = isinstance(check.node, YamlSequence)
            tags, name = (check, path) if is_list else (entry_at(check.node, "tags"), f"{path}.tags")
            yield from ((f"{name}[{index}]", item) for index, item in enumerate(_items(tags)))
            for mapped in entries(check.node, "annotations"):
                if isinstance(mapped.node, YamlScalar):
                    yield f"{path}.annotations.{mapped.key}", mapped.node
        for key in ("rules", "sarif"):
            for mapped in entries(self.root, "validators", key):
                if isinstance(mapped.node, YamlScalar):
                    yield f"validators.{key}.{mapped.key}", mapped.node

    def _number(self, key: str, path: tuple[str, ...], default: float) -> float:
        for layer in (self.root, *reversed(self.below)):
            entry = entry_at(layer, *path, key)
            if entry and isinstance(entry.node, YamlScalar) and isinstance(entry.node.value, (int, float)):
                return entry.node.value
        return default

    def _problem(self, at: YamlNode | YamlEntry, what: str, allowed: str) -> RuleFileProblem:
        return RuleFileProblem(self.file, at.line, at.column, what, allowed)


def _items(entry: YamlEntry | None) -> tuple[YamlScalar, ...]:
    node = entry.node if entry else None
    return (
        tuple(item for item in node.items if isinstance(item, YamlScalar))
        if isinstance(node, YamlSequence)
        else ()
    )


def _text(entry: YamlEntry | None) -> YamlScalar | None:
    node = entry.node if entry else None
    return node if isinstance(node, YamlScalar) and isinstance(node.value, str) else None


def _has_phrase(example: str, phrase: str) -> bool:
    try:
        return has_phrase((phrase,), mask_hidden(example, *_HIDDEN_SPANS))
    except PhraseError:
        return True  # the schema check reports the phrase


PackMapping = Mapping[str, Gates]


@dataclass(frozen=True, slots=True)
class RepositoryConfig:
    """A config file without problems."""

    file: str
    root: YamlMapping


def load_config(
    data: bytes | str, file: str, packs: PackMapping, organisation: RepositoryConfig | None = None
) -> RepositoryConfig:
    """Return the config in the file, over the organisation's; raise `RuleFileError` with all problems."""
    root = read_yaml_document(
        data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass"), file
    )
    below = (organisation.root,) if organisation else ()
    problems = {
        *find_schema_problems(root, "config", file),
        *find_reference_problems(root, file, packs, below),
    }
    if problems:
        raise RuleFileError(
            tuple(sorted(problems, key=lambda problem: (problem.line, problem.column, problem.what)))
        )
    return RepositoryConfig(file, root)


def merge_rules(
    packs: PackMapping,
    organisation: RepositoryConfig | None = None,
    repository: RepositoryConfig | None = None,
) -> RepositoryRules:
    """Return the rules in force: the repository's config over the organisation's over the defaults.

    Raise `RuleFileError` where the repository's changes a gate that the organisation's no longer has.
    """
    layers = tuple(layer for layer in (organisation, repository) if layer)
    rules = RepositoryRules()
    for index, layer in enumerate(layers):
        below = tuple(lower.root for lower in layers[:index])
        if problems := find_reference_problems(layer.root, layer.file, packs, below):
            raise RuleFileError(problems)
        rules = overlay_config(rules, to_plain(layer.root))
    is_named = any("extends" in layer.root.entries for layer in layers)
    inferring = rules.extends if is_named else rules.inferring
    return replace(rules, gates=_gates(packs, rules.extends, layers), inferring=inferring)


def _gates(packs: PackMapping, extends: tuple[str, ...], layers: tuple[RepositoryConfig, ...]) -> Gates:
    """Return the gates of the packs as the configs change them; a change switches a gate on again."""
    gates = Gates()
    for name in extends:
        gates = gates.merged(packs[name])
    off: set[str] = set()
    for layer in layers:
        for entry in entries(layer.root, "gates"):
            if isinstance(entry.node, YamlMapping):
                off.discard(entry.key)
                gate, values = gates.get(entry.key), to_plain(entry.node)
                new = change_gate(gate, values) if gate else new_gate(entry.key, values, layer.file)
                gates = gates.merged(Gates((new,)))
            else:
                off.add(entry.key)
    return gates.without(off)


def check_file(path: Path, organisation: Path | None = None) -> str:
    """Describe a valid file; raise `RuleFileError` with all its problems, `OSError` when unreadable."""
    data = read_rule_file(path)
    if is_pack(data):
        count = len(parse_pack(data, str(path), path.stem))
        return f"a pack of {count} gate{'' if count == 1 else 's'}"
    packs = load_packs(rules_directory())
    below = load_config(read_rule_file(organisation), str(organisation), packs) if organisation else None
    config = load_config(data, str(path), packs, below)
    return f"a config with {len(merge_rules(packs, below, config).gates)} gates in force"
