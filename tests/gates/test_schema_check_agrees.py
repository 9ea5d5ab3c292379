"""The published schemas and the reader of rule files say the same about every file."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, fields
from random import Random

import pytest
from jsonschema import Draft202012Validator

from bot.gates.config import (
    DEFAULT_RULES,
    AuthorNaming,
    CheckKind,
    CheckRule,
    ClaimType,
    CommentPolicy,
    CueRule,
    HintAudience,
    Permission,
    RepositoryRules,
    Weekday,
)
from bot.gates.model import Aspect, Gate, Severity
from bot.gates.packs import load_packs, rules_directory
from bot.gates.problems import RuleFileError
from bot.gates.schema_check import load_rule_schema, schema_differences
from bot.gates.yaml_reader import read_yaml_document, to_plain
from tests.gates.broken_configs import CONFIGS
from tests.gates.broken_packs import PACK_FILES
from tests.gates.broken_yaml import FILES

CONFIG, PACK = load_rule_schema("config"), load_rule_schema("pack")
JUDGES = {"config": Draft202012Validator(CONFIG), "pack": Draft202012Validator(PACK)}

KNOWN_KEYWORDS = {
    *("$schema", "$id", "$ref", "$defs", "title", "description", "default", "x-allowed"),
    *("type", "enum", "anyOf", "format", "pattern", "minLength", "maxLength", "minimum", "maximum"),
    *("properties", "required", "additionalProperties", "propertyNames", "minProperties", "maxProperties"),
    *("items", "minItems", "maxItems", "uniqueItems"),
}


def resolved(rule: dict, root: dict = CONFIG) -> dict:
    if "$ref" not in rule:
        return rule
    target = root
    for step in rule["$ref"].removeprefix("#/").split("/"):
        target = target[step]
    return {**resolved(target, root), **{key: value for key, value in rule.items() if key != "$ref"}}


def rules_of(rule: dict):
    """Give every part of a schema that is itself a schema."""
    yield rule
    for name in ("properties", "$defs"):
        for below in rule.get(name, {}).values():
            yield from rules_of(below)
    for name in ("items", "additionalProperties", "propertyNames"):
        if isinstance(rule.get(name), dict):
            yield from rules_of(rule[name])
    for below in rule.get("anyOf", ()):
        yield from rules_of(below)


def accepts(name: str, text: str | bytes) -> bool | None:
    """Whether the reader finds the file to be of its schema's shape; None where it isn't even read."""
    try:
        root = read_yaml_document(text if isinstance(text, bytes) else text.encode(), "file.yml")
    except RuleFileError:
        return None
    return not [
        problem
        for problem in schema_differences(root, name, "file.yml")
        if not is_beyond_schema(problem.what)
    ]


def is_beyond_schema(what: str) -> bool:
    """What JSON Schema leaves to its reader: regular expressions and time zones."""
    return "regular expression of RE2" in what or "no time zone" in what


def judged(name: str, text: str | bytes) -> bool:
    root = read_yaml_document(text if isinstance(text, bytes) else text.encode(), "file.yml")
    return JUDGES[name].is_valid(to_plain(root))


@pytest.mark.parametrize("document", [CONFIG, PACK], ids=["config", "pack"])
def test_the_schema_is_one_and_uses_only_what_the_reader_knows(document):
    Draft202012Validator.check_schema(document)
    used = {keyword for rule in rules_of(document) for keyword in rule}
    assert used <= KNOWN_KEYWORDS


def test_both_schemas_describe_a_gate_alike():
    shared = CONFIG["$defs"].keys() & PACK["$defs"].keys()
    assert {name: CONFIG["$defs"][name] for name in shared} == {name: PACK["$defs"][name] for name in shared}
    assert CONFIG["$defs"]["gateChange"]["properties"] == PACK["$defs"]["gate"]["properties"]


@pytest.mark.parametrize("document", [CONFIG, PACK], ids=["config", "pack"])
def test_every_key_is_described_for_editors(document):
    bare = [
        key
        for rule in rules_of(document)
        for key, below in rule.get("properties", {}).items()
        if "description" not in resolved(below, document)
    ]
    assert bare == []


def test_the_sections_are_the_fields_of_the_rules():
    assert set(CONFIG["properties"]) == {field.name for field in fields(RepositoryRules)} - {"scoring"}


@pytest.mark.parametrize(
    "section",
    [
        "validators",
        "authors",
        "overrides",
        "comment",
        "check",
        "history",
        "weekly",
        "iterations",
        "quality",
        "detection",
    ],
)
def test_the_keys_of_a_section_are_the_fields_of_its_value(section):
    keys = CONFIG["properties"][section]["properties"]
    assert set(keys) == {field.name for field in fields(getattr(DEFAULT_RULES, section))}


def test_the_keys_of_a_gate_a_check_and_a_cue_are_their_fields():
    assert set(PACK["$defs"]["gate"]["properties"]) == {field.name for field in fields(Gate)} - {
        "tag",
        "pack",
    }
    assert set(CONFIG["$defs"]["check"]["properties"]) == {field.name for field in fields(CheckRule)} - {
        "name"
    }
    assert set(CONFIG["$defs"]["cue"]["properties"]) == {field.name for field in fields(CueRule)}


def defaults_of(rule: dict) -> dict | list | str | float | None:
    rule = resolved(rule)
    if "properties" in rule:
        return {key: defaults_of(below) for key, below in rule["properties"].items()}
    return rule.get("default", {} if rule.get("type") == "object" else None)


@pytest.mark.parametrize(
    "section", ["authors", "overrides", "comment", "check", "history", "weekly", "iterations"]
)
def test_the_published_defaults_are_the_products(section):
    value = json.loads(json.dumps(asdict(getattr(DEFAULT_RULES, section))))
    assert defaults_of(CONFIG["properties"][section]) == value


def test_the_published_defaults_of_the_other_sections_are_the_products():
    assert defaults_of(CONFIG["properties"]["extends"]) == list(DEFAULT_RULES.extends)
    assert defaults_of(CONFIG["properties"]["quality"]) == asdict(DEFAULT_RULES.quality)
    assert (
        defaults_of(CONFIG["properties"]["validators"])["permission"] == DEFAULT_RULES.validators.permission
    )
    grounding = defaults_of(CONFIG["properties"]["grounding"])
    assert grounding["grounding_rules"] == {
        "mandatory_grounding": list(DEFAULT_RULES.grounding.mandatory),
        "recommended_grounding": list(DEFAULT_RULES.grounding.recommended),
        "grounding_not_required": list(DEFAULT_RULES.grounding.not_required),
    }
    assert (grounding["enabled"], grounding["reads"], grounding["version"]) == (True, 5, "1.0.0")


@pytest.mark.parametrize(
    ("words", "path"),
    [
        (Severity, "$defs.severity"),
        (Aspect, "$defs.aspect"),
        (ClaimType, "$defs.claim"),
        (CheckKind, "$defs.check.properties.kind"),
        (Permission, "properties.validators.properties.permission"),
        (CommentPolicy, "properties.comment.properties.when"),
        (Weekday, "properties.weekly.properties.day"),
        (AuthorNaming, "properties.weekly.properties.authors"),
        (HintAudience, "properties.quality.properties.tell"),
    ],
)
def test_the_words_of_a_choice_are_the_same(words, path):
    rule = CONFIG
    for step in path.split("."):
        rule = rule[step]
    assert rule["enum"] == list(words)


FINE = {
    "the least": "version: 1",
    "a gate off": "gates: {date_errors: off, scope_error: false}",
    "a gate changed": "gates: {date_errors: {severity: warning, priority: 10, guide: .github/GUIDE.md#dates}}",
    "a check by tags": "validators: {checks: {ci: [date_errors]}}",
    "a check by annotations": "validators: {checks: {'/ci/': {annotations: {wrong date: date_errors}, kind: tests}}}",
    "numbers": "iterations: {max: 5, threshold: 1, diff_size: {min: 0, max: 1000000}}",
    "a whole number with a point": "iterations: {max: 5.0, threshold: 0.5}",
    "a time": "weekly: {time: 23:59, day: sunday}",
    "a block of text": "gates:\n  date_errors:\n    fix: |\n      Write the date as YYYY-MM-DD.\n",
}


@pytest.mark.parametrize("text", FINE.values(), ids=FINE)
def test_a_good_file_is_good_to_both(text):
    assert (accepts("config", text), judged("config", text)) == (True, True)


@pytest.mark.parametrize("path", sorted(rules_directory().glob("*.yml")), ids=lambda path: path.stem)
def test_the_packs_are_good_to_both(path):
    if path.stem in load_packs(rules_directory()):
        assert (accepts("pack", path.read_bytes()), judged("pack", path.read_bytes())) == (True, True)
    else:
        assert b"\npack:" not in path.read_bytes()


@pytest.mark.parametrize("text", [text for text, _ in FILES.values()], ids=FILES)
def test_a_file_without_keys_and_values_is_refused_before_its_shape_is_asked(text):
    assert accepts("config", text) is None


@pytest.mark.parametrize("text", [text for text, _ in CONFIGS.values()], ids=CONFIGS)
def test_a_broken_config_is_broken_to_both(text):
    assert accepts("config", text) == judged("config", text)


@pytest.mark.parametrize("text", [text for text, _ in PACK_FILES.values()], ids=PACK_FILES)
def test_a_broken_pack_is_broken_to_both(text):
    assert accepts("pack", text) == judged("pack", text)


class Writer:
    """Writes files that are nearly of a schema's shape."""

    def __init__(self, document: dict, seed: int) -> None:
        self.document, self.random = document, Random(seed)
        words = {
            word
            for rule in rules_of(document)
            for word in (*rule.get("properties", ()), *rule.get("enum", ()))
        }
        self.words = [*sorted(words, key=str), "date_errors", "Bad Tag", "x", "09:00", "9:00", "acme/team"]
        self.others = [
            True,
            False,
            None,
            0,
            1,
            2,
            5,
            5.0,
            0.5,
            -1,
            51,
            10**7,
            "",
            "A fix that is long enough.",
            [],
            {},
        ]

    def value(self, rule: dict) -> object:
        rule = resolved(rule, self.document)
        if self.random.random() < 0.05:
            return self.random.choice([*self.words, *self.others])
        if "anyOf" in rule:
            return self.value(self.random.choice(rule["anyOf"]))
        if "enum" in rule:
            return self.random.choice(rule["enum"])
        if rule["type"] == "object":
            return self.mapping(rule)
        if rule["type"] == "array":
            return [self.value(rule["items"]) for _ in range(self.random.randint(0, 3))]
        return self.simple(rule)

    def mapping(self, rule: dict) -> dict:
        known = rule.get("properties", {})
        keys = [key for key in known if key in rule.get("required", ()) or self.random.random() < 0.2]
        if isinstance(rule["additionalProperties"], dict):
            keys += self.random.sample(
                ["date_errors", "own_gate", "ci_test", "Bad Tag"], self.random.randint(0, 2)
            )
        elif self.random.random() < 0.03:
            keys.append(self.random.choice(self.words) or "x")
        return {
            str(key): self.value(known.get(key, rule["additionalProperties"] or {"type": "string"}))
            for key in keys
        }

    def simple(self, rule: dict) -> object:
        if rule["type"] == "boolean":
            return self.random.choice([True, False])
        if rule["type"] in ("integer", "number"):
            return self.random.choice([rule["minimum"], rule["maximum"], rule.get("default", 1), 0.5])
        if "default" in rule:
            return rule["default"]
        texts = ["date_errors", "09:00", "acme/team", "A fix that is long enough.", "1.0.0", "house", "UTC"]
        right = [text for text in texts if re.search(rule.get("pattern", ""), text)]
        return self.random.choice([text for text in right if len(text) >= rule.get("minLength", 0)])


@pytest.mark.parametrize("name", ["config", "pack"])
def test_the_reader_and_a_full_validator_agree_on_any_file(name):
    texts = [
        json.dumps(Writer(load_rule_schema(name), seed).mapping(load_rule_schema(name)))
        for seed in range(400)
    ]
    verdicts = [accepts(name, text) for text in texts]
    assert [
        text for text, verdict in zip(texts, verdicts, strict=True) if verdict != judged(name, text)
    ] == []
    assert {True, False} == set(verdicts), "some are right and some are wrong, or nothing is proven"
