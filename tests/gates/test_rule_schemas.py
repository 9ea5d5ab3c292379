"""The published schemas of rule files have the keys, words and defaults of the values they become."""

from __future__ import annotations

import json
from dataclasses import asdict, fields

import pytest
from jsonschema import Draft202012Validator

from bot.gates.config import (
    AuthorNaming,
    CheckKind,
    CheckPolicy,
    CheckRule,
    ClaimType,
    CommentPolicy,
    CueRule,
    DocumentPolicy,
    HintAudience,
    Permission,
    RepositoryRules,
    Weekday,
)
from bot.gates.model import Aspect, Gate, Severity
from bot.gates.packs import load_packs, rules_directory
from bot.gates.rule_files import find_schema_problems, read_rule_yaml
from bot.gates.schemas import load_schema

DEFAULT_RULES = RepositoryRules()

CONFIG, PACK = load_schema("config"), load_schema("pack")


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


@pytest.mark.parametrize("document", [CONFIG, PACK], ids=["config", "pack"])
def test_the_schema_is_one_of_draft_2020_12(document):
    Draft202012Validator.check_schema(document)


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
    assert set(CONFIG["properties"]) == {field.name for field in fields(RepositoryRules)} - {
        "scoring",
        "inferring",
        "config_problem",
    }


OLDER_KEYS = {"check": {"enabled"}, "validators": {"sarif"}}
"""Keys that are still read, as another key's value."""
DERIVED_FIELDS = {"validators": {"app_severities"}}
"""Fields that come from another key."""


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
    keys = set(CONFIG["properties"][section]["properties"]) - OLDER_KEYS.get(section, set())
    derived = DERIVED_FIELDS.get(section, set())
    assert keys == {field.name for field in fields(getattr(DEFAULT_RULES, section))} - derived


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
    older = dict.fromkeys(OLDER_KEYS.get(section, ()))
    assert defaults_of(CONFIG["properties"][section]) == {**value, **older}


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
        (DocumentPolicy, "properties.comment.properties.document"),
        (CheckPolicy, "properties.check.properties.when"),
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
    "an integer with a point": "iterations: {max: 5.0, threshold: 0.5}",
    "a time": "weekly: {time: 23:59, day: sunday}",
    "a block of text": "gates:\n  date_errors:\n    fix: |\n      Write the date as YYYY-MM-DD.\n",
}


@pytest.mark.parametrize("text", FINE.values(), ids=FINE)
def test_a_good_config_has_no_problems(text):
    assert find_schema_problems(read_rule_yaml(text.encode(), "f.yml"), "config") == ()


def test_every_file_that_says_so_is_a_pack():
    packs = load_packs(rules_directory())
    assert {path.stem for path in rules_directory().glob("*.yml") if b"\npack:" in path.read_bytes()} == set(
        packs
    )
