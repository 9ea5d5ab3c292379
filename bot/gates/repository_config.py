"""Load a repository's config, check its references, and merge it over the organization's and the defaults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, is_dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from bot.gates.config import (
    CheckPolicy,
    CheckRunRules,
    DiffSizeBand,
    EscalationRules,
    GroundingRules,
    RepositoryRules,
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
from bot.gates.problems import RuleFileProblem
from bot.gates.rule_files import (
    RuleFile,
    find_schema_problems,
    quote_value,
    raise_problems,
    read_rule_yaml,
    suggest_choice,
)
from bot.gates.schemas import list_at, load_schema, object_at, text_at, value_at
from bot.gates.yaml_reader import YamlPath, dotted
from bot.markdown.blocks import SpanKind
from bot.markdown.spans import mask_hidden

ConfigValues = dict[str, Any]  # a mapping of a config that its schema has passed


def overlay_config(rules: RepositoryRules, config: ConfigValues) -> RepositoryRules:
    """Return the rules with every section of the config except its gates, which need the packs."""
    sections = {
        name: _overlay(getattr(rules, name), values)
        for name, values in config.items()
        if is_dataclass(getattr(rules, name)) and name != "gates"
    }
    return replace(rules, extends=tuple(config.get("extends", rules.extends)), **sections)


def _overlay(old: Any, new: ConfigValues) -> Any:
    """Return a section of the rules with the values of the config."""
    match old:
        case ValidatorRules():
            new = _validator_values(old, new)
        case GroundingRules():
            new = _grounding_values(old, new)
        case CheckRunRules():
            new = _check_run_values(new)
    # Not strict, since 5.0 is an integer to JSON Schema.
    return msgspec.convert(_merge(msgspec.to_builtins(old), new), type(old), strict=False)


def _merge(old: ConfigValues, new: ConfigValues) -> ConfigValues:
    """Return the old values with the new ones, key by key in mappings; a list is replaced as a whole."""
    both = {key: _merge(old[key], new[key]) for key in old.keys() & new.keys() if isinstance(old[key], dict)}
    return {**old, **new, **both}


def _validator_values(old: ValidatorRules, new: ConfigValues) -> ConfigValues:
    """Return what the section says of checks and rules as lists, those of the old ones kept by name."""
    values = dict(new)
    if isinstance(apps := new.get("apps"), dict):
        severities = {name: app["blocking"] for name, app in apps.items() if app and "blocking" in app}
        values |= {"apps": list(apps), "app_severities": severities}
    checks = {rule.name: msgspec.to_builtins(rule) for rule in old.checks}
    checks |= {name: _check_values(name, check) for name, check in new.get("checks", {}).items()}
    tags = {rule.rule: rule.tag for rule in old.rules} | new.get("sarif", {}) | new.get("rules", {})
    rules = [{"rule": rule, "tag": tag} for rule, tag in tags.items()]
    return {**values, "checks": list(checks.values()), "rules": rules}


def _check_values(name: str, check: Any) -> ConfigValues:
    values: ConfigValues = {"tags": check} if isinstance(check, list) else check
    annotations = [{"phrase": phrase, "tag": tag} for phrase, tag in values.get("annotations", {}).items()]
    return {**values, "name": name, "annotations": annotations}


def _check_run_values(new: ConfigValues) -> ConfigValues:
    """Return the rules of the check run; the older key `enabled` counts where `when` is not given."""
    if "when" in new or "enabled" not in new:
        return new
    return {"when": CheckPolicy.ALWAYS if new["enabled"] else CheckPolicy.NEVER}


def _grounding_values(old: GroundingRules, new: ConfigValues) -> ConfigValues:
    """Return the section without its levels, and each type of claim in the list in which it is named."""
    values = dict(new)
    for part in new.get("verification_protocol", {}).values():
        values |= part
    named = new.get("grounding_rules", {})
    moved = set(chain.from_iterable(named.values()))
    for key, field in _CLAIM_LISTS.items():
        values[field] = named.get(key, [claim for claim in getattr(old, field) if claim not in moved])
    return values


_REQUIRED_KEYS = tuple(load_schema("pack")["$defs"]["gate"]["required"])
_HIDDEN_SPANS = tuple(kind for kind in SpanKind if kind is not SpanKind.TEXT)
_CLAIM_LISTS = {
    "mandatory_grounding": "mandatory",
    "recommended_grounding": "recommended",
    "grounding_not_required": "not_required",
}
_PAIRS = (
    (("iterations", "diff_size"), "min", "max", (DiffSizeBand().min, DiffSizeBand().max)),
    (("iterations", "escalate"), "repeats", "window", (EscalationRules().repeats, EscalationRules().window)),
)


def find_reference_problems(
    file: RuleFile, packs: Mapping[str, Gates], below: tuple[RuleFile, ...]
) -> tuple[RuleFileProblem, ...]:
    """Return every unknown name and every contradiction in a config, given the configs that it overlays.

    Parts that violate the schema are skipped, so that problems of both kinds are reported at once.
    """
    check = _ReferenceCheck(file, packs, below)
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
    file: RuleFile
    packs: Mapping[str, Gates]
    below: tuple[RuleFile, ...]

    def unknown_packs(self) -> Iterator[RuleFileProblem]:
        for index, name in enumerate(list_at(self.file.values, "extends")):
            if isinstance(name, str) and name not in self.packs:
                what = f"extends[{index}] is {name}, which is not a pack"
                yield self.file.value_problem(("extends", index), what, suggest_choice(name, self.packs))

    def incomplete_gates(self) -> Iterator[RuleFileProblem]:
        """Find gates that are in no pack and lack a key of a new gate."""
        tags = self._inherited_tags()
        for tag, gate in object_at(self.file.values, "gates").items():
            if not is_tag(tag) or tag in tags:
                continue
            near = nearest_word(tag, tags)
            what = f"gates.{tag} is not in any pack"
            if not isinstance(gate, dict | list):
                hint = f"did you mean {near}?" if near else "only an existing gate can be turned off"
                yield self.file.key_problem(("gates", tag), what, hint)
            elif missing := [key for key in _REQUIRED_KEYS if key not in object_at(gate)]:
                needs = f"new gate needs {', '.join(_REQUIRED_KEYS)}"
                hint = f"did you mean {near}? A {needs}" if near else f"a {needs}"
                yield self.file.key_problem(("gates", tag), f"{what} and lacks {', '.join(missing)}", hint)

    def unknown_tags(self) -> Iterator[RuleFileProblem]:
        known = (pack.tags for pack in self.packs.values())
        own = (object_at(layer.values, "gates") for layer in (*self.below, self.file))
        tags = tuple(chain(*known, *own))
        for path, tag in self._mapped_tags():
            if isinstance(tag, str) and is_tag(tag) and tag not in tags:
                near = nearest_word(tag, tags)
                hint = (
                    f"did you mean {near}?"
                    if near
                    else "use an existing tag, or add a gate for it under gates"
                )
                what = f"{dotted(path)} is {tag}, which is not the tag of any gate"
                yield self.file.value_problem(path, what, hint)

    def contradictions(self) -> Iterator[RuleFileProblem]:
        for path, low, high, defaults in _PAIRS:
            least, most = self._number((*path, low), defaults[0]), self._number((*path, high), defaults[1])
            given = next((key for key in ((*path, low), (*path, high)) if key in self.file.keys), None)
            if given and least > most:
                name = ".".join(path)
                what = f"{name}.{low} is {least}, {name}.{high} is {most}"
                yield self.file.key_problem(given, what, f"{low} must not exceed {high}")
        seen: dict[str, str] = {}
        for key in _CLAIM_LISTS:
            section = ("grounding", "grounding_rules", key)
            for index, claim in enumerate(list_at(self.file.values, *section)):
                if isinstance(claim, str) and seen.setdefault(claim, key) != key:
                    what = f"{key} and {seen[claim]} both name {claim}"
                    yield self.file.value_problem((*section, index), what, "list it in one of them")

    def examples_without_phrase(self) -> Iterator[RuleFileProblem]:
        """Find examples of cues that lack the cue's phrase where the detector looks for it."""
        for index, cue in enumerate(list_at(self.file.values, "detection", "cues")):
            phrase, example = text_at(cue, "phrase"), text_at(cue, "example")
            if phrase and example and not _has_phrase(example, phrase):
                what = f"detection.cues[{index}].example does not contain its phrase {quote_value(phrase)}"
                allowed = "write a sentence that contains the phrase, outside code and quotes"
                yield self.file.value_problem(("detection", "cues", index, "example"), what, allowed)

    def _inherited_tags(self) -> tuple[str, ...]:
        layers = (self.file, *reversed(self.below))
        chosen = next((layer for layer in layers if "extends" in layer.values), None)
        names = list_at(chosen.values, "extends") if chosen else RepositoryRules().extends
        packs = (pack for name, pack in self.packs.items() if name in names)
        own = (object_at(layer.values, "gates") for layer in self.below)
        return tuple(chain(*(pack.tags for pack in packs), *own))

    def _mapped_tags(self) -> Iterator[tuple[YamlPath, Any]]:
        for name, check in object_at(self.file.values, "validators", "checks").items():
            path = ("validators", "checks", name)
            listed = path if isinstance(check, list) else (*path, "tags")
            for index, tag in enumerate(list_at(self.file.values, *listed)):
                yield (*listed, index), tag
            for phrase, tag in object_at(check, "annotations").items():
                yield (*path, "annotations", phrase), tag
        for key in ("rules", "sarif"):
            for rule, tag in object_at(self.file.values, "validators", key).items():
                yield ("validators", key, rule), tag

    def _number(self, path: tuple[str, ...], default: float) -> float:
        values = (value_at(layer.values, *path) for layer in (self.file, *reversed(self.below)))
        return next((value for value in values if isinstance(value, int | float)), default)


def _has_phrase(example: str, phrase: str) -> bool:
    try:
        return has_phrase((phrase,), mask_hidden(example, *_HIDDEN_SPANS))
    except PhraseError:
        return True  # the schema check reports the phrase


PackMapping = Mapping[str, Gates]


def load_config(
    data: bytes | str, name: str, packs: PackMapping, organisation: RuleFile | None = None
) -> RuleFile:
    """Return the config in the file, over the organisation's; raise `RuleFileError` with all problems."""
    file = read_rule_yaml(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass"), name)
    below = (organisation,) if organisation else ()
    problems = {*find_schema_problems(file, "config"), *find_reference_problems(file, packs, below)}
    raise_problems(sorted(problems, key=lambda problem: problem.what))
    return file


def merge_rules(
    packs: PackMapping, organisation: RuleFile | None = None, repository: RuleFile | None = None
) -> RepositoryRules:
    """Return the rules in force: the repository's config over the organisation's over the defaults.

    Raise `RuleFileError` where the repository's changes a gate that the organisation's no longer has.
    """
    layers = tuple(layer for layer in (organisation, repository) if layer)
    rules = RepositoryRules()
    for index, layer in enumerate(layers):
        raise_problems(find_reference_problems(layer, packs, layers[:index]))
        rules = overlay_config(rules, layer.values)
    is_named = any("extends" in layer.values for layer in layers)
    inferring = rules.extends if is_named else rules.inferring
    return replace(rules, gates=_gates(packs, rules.extends, layers), inferring=inferring)


def _gates(packs: PackMapping, extends: tuple[str, ...], layers: tuple[RuleFile, ...]) -> Gates:
    """Return the gates of the packs as the configs change them; a change switches a gate on again."""
    gates = Gates()
    for name in extends:
        gates = gates.merged(packs[name])
    off: set[str] = set()
    for layer in layers:
        for tag, values in layer.values.get("gates", {}).items():
            if isinstance(values, dict):
                off.discard(tag)
                gate = gates.get(tag)
                new = change_gate(gate, values) if gate else new_gate(tag, values, layer.name)
                gates = gates.merged(Gates((new,)))
            else:
                off.add(tag)
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
