"""A repository's config over the organisation's over the defaults."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import resources

import pytest
from jsonschema import Draft202012Validator

from bot.gates.config import (
    AnnotationRule,
    AuthorNaming,
    AuthorRules,
    CheckKind,
    CheckPolicy,
    CheckRule,
    CheckRunRules,
    ClaimType,
    CommentPolicy,
    CommentRules,
    CueRule,
    DetectionConfig,
    DiffSizeBand,
    EscalationRules,
    GroundingRules,
    HintAudience,
    HistoryRules,
    IterationRules,
    OverrideRules,
    Permission,
    QualityRules,
    RepositoryRules,
    ToolRule,
    UnmappedResults,
    ValidatorRules,
    Weekday,
    WeeklyRules,
)
from bot.gates.model import Aspect, Example, Gate, Severity
from bot.gates.packs import load_packs, rules_directory
from bot.gates.problems import RuleFileError
from bot.gates.repository_config import load_config, merge_rules
from bot.gates.rule_files import RuleFile

DEFAULT_RULES = RepositoryRules()

PACKS = load_packs(rules_directory())
ALL = PACKS["knowledge-base"].merged(PACKS["code-review"])
FILE = ".github/whetstone.yml"

OWN_GATE = """\
gates:
  licence_missing:
    gate: Licence
    description: A new file has no licence header
    fix: Put the project's header at the top of the file.
    severity: warning
    auto_fixable: true
"""

EVERYTHING = """\
version: 1
extends: [code-review]
gates:
  code_style: off
  tests_missing:
    severity: warning
    guide: CONTRIBUTING.md#tests
  licence_missing:
    gate: Licence
    description: >
      A new file has no licence header
    fix: Put the project's header at the top of the file.
    severity: warning
    auto_fixable: true
    aspect: completeness
    priority: 9
    phrases: [no licence, '/licen[cs]e header/']
    examples:
      - bad: an empty first line
        good: |
          # SPDX-License-Identifier: MIT
validators:
  permission: maintain
  users: [alice]
  apps: [coderabbitai]
  checks:
    test: [tests_failing]
    /^lint/:
      tags: [lint_errors]
      kind: lint
      annotations:
        line too long: code_style
  sarif: {E501: code_style, W605: code_style}
  rules: {W605: tests_missing}
  unmapped: block
authors: {agents: [rio]}
overrides: {by_author: true}
comment: {enabled: false, when: always, suggestions: true, labels: true}
check: {enabled: true}
history: {periods: [14], minimum: 3, dead_after_days: 30, shared: true}
weekly: {enabled: false, day: friday, time: "16:30", timezone: Europe/Berlin, authors: none}
iterations:
  max: 8
  threshold: 0.8
  escalate: {enabled: false, repeats: 2, window: 4, mention: acme/reviewers}
  diff_size: {min: 10, max: 1000}
grounding:
  enabled: false
  reads: 2
  version: 1.2.3
  grounding_rules:
    mandatory_grounding: [file_contents]
    recommended_grounding: [git_state]
    grounding_not_required: []
  verification_protocol:
    before_claim: {check_required: false}
    claim_format:
      include_source: false
      include_timestamp: true
      format_template: "[Claim] — [tool/observation]"
    on_verification_failure: {allow_unverified_claim: true}
quality: {tell: off, strict: true}
detection:
  enabled: false
  threshold: 0.75
  max_refinement_iterations: 1
  cues:
    - {type: user_rejection, phrase: not in scope, reason: our maintainers say so, example: Not in scope.}
"""


def config(text: str, organisation: RuleFile | None = None) -> RuleFile:
    return load_config(text, FILE, PACKS, organisation)


def rules(repository: str, organisation: str | None = None) -> RepositoryRules:
    below = config(organisation) if organisation else None
    return merge_rules(PACKS, below, config(repository, below))


def test_without_any_config_the_defaults_and_both_packs_hold():
    assert merge_rules(PACKS) == replace(DEFAULT_RULES, gates=ALL)


def test_every_key_of_a_config_reaches_the_rules():
    tests = PACKS["code-review"].get("tests_missing")
    licence = Gate(
        tag="licence_missing",
        gate="Licence",
        description="A new file has no licence header",
        fix="Put the project's header at the top of the file.",
        severity=Severity.WARNING,
        auto_fixable=True,
        aspect=Aspect.COMPLETENESS,
        priority=9,
        phrases=("no licence", "/licen[cs]e header/"),
        examples=(Example("an empty first line", "# SPDX-License-Identifier: MIT"),),
        pack=FILE,
    )
    found = rules(EVERYTHING)
    assert found.gates.get("licence_missing") == licence
    assert found.gates.get("tests_missing") == replace(
        tests, severity=Severity.WARNING, guide="CONTRIBUTING.md#tests", priority=7
    )
    assert found == RepositoryRules(
        gates=found.gates,
        version=1,
        extends=("code-review",),
        validators=ValidatorRules(
            Permission.MAINTAIN,
            users=("alice",),
            apps=("coderabbitai",),
            checks=(
                CheckRule("test", ("tests_failing",)),
                CheckRule(
                    "/^lint/",
                    ("lint_errors",),
                    (AnnotationRule("line too long", "code_style"),),
                    CheckKind.LINT,
                ),
            ),
            rules=(ToolRule("E501", "code_style"), ToolRule("W605", "tests_missing")),
            unmapped=UnmappedResults.BLOCK,
        ),
        authors=AuthorRules(("rio",)),
        overrides=OverrideRules(by_author=True),
        comment=CommentRules(enabled=False, when=CommentPolicy.ALWAYS, suggestions=True, labels=True),
        check=CheckRunRules(CheckPolicy.ALWAYS),
        history=HistoryRules((14,), minimum=3, dead_after_days=30, shared=True),
        weekly=WeeklyRules(
            enabled=False,
            day=Weekday.FRIDAY,
            time="16:30",
            timezone="Europe/Berlin",
            authors=AuthorNaming.NONE,
        ),
        iterations=IterationRules(
            max=8,
            threshold=0.8,
            escalate=EscalationRules(enabled=False, repeats=2, window=4, mention="acme/reviewers"),
            diff_size=DiffSizeBand(10, 1000),
        ),
        grounding=GroundingRules(
            enabled=False,
            reads=2,
            mandatory=(ClaimType.FILE_CONTENTS,),
            recommended=(ClaimType.GIT_STATE,),
            not_required=(),
            check_required=False,
            include_source=False,
            include_timestamp=True,
            format_template="[Claim] — [tool/observation]",
            allow_unverified_claim=True,
        ),
        quality=QualityRules(tell=HintAudience.OFF, strict=True),
        detection=DetectionConfig(
            enabled=False,
            threshold=0.75,
            cues=(CueRule("user_rejection", "not in scope", "our maintainers say so", "Not in scope."),),
            max_refinement_iterations=1,
        ),
    )


def test_the_gates_of_the_example_are_the_packs_as_changed():
    before = PACKS["code-review"].tags
    assert rules(EVERYTHING).gates.tags == (
        *(tag for tag in before if tag != "code_style"),
        "licence_missing",
    )


def test_the_repository_wins_over_the_organisation_key_by_key():
    found = rules(
        "comment: {when: always}", "comment: {when: tagged, suggestions: true}\niterations: {max: 9}"
    )
    assert found.comment == CommentRules(when=CommentPolicy.ALWAYS, suggestions=True)
    assert found.iterations == IterationRules(max=9)


def test_a_list_replaces_the_organisations_as_a_whole():
    found = rules("validators: {users: [bob]}", "validators: {users: [alice], apps: [coderabbitai]}")
    assert (found.validators.users, found.validators.apps) == (("bob",), ("coderabbitai",))


def test_checks_are_kept_by_name_from_both():
    found = rules(
        "validators: {checks: {lint: [code_style]}}",
        "validators: {checks: {lint: [lint_errors], test: [tests_failing]}}",
    )
    assert found.validators.checks == (
        CheckRule("lint", ("code_style",)),
        CheckRule("test", ("tests_failing",)),
    )


def test_the_nearest_file_says_which_packs_are_in_force():
    assert rules("extends: [knowledge-base]", "extends: [code-review]").gates == PACKS["knowledge-base"]
    assert rules("comment: {enabled: true}", "extends: [code-review]").gates == PACKS["code-review"]
    assert len(rules("extends: []").gates) == 0


def test_a_gate_that_the_organisation_switched_off_comes_back_where_the_repository_names_it():
    off = "gates: {date_errors: off}"
    assert "date_errors" not in rules("comment: {enabled: true}", off).gates
    assert rules("gates: {date_errors: {}}", off).gates == ALL


@pytest.mark.parametrize("word", ["off", "false", '"off"'])
def test_off_is_off_however_yaml_reads_it(word):
    assert "date_errors" not in rules(f"gates: {{date_errors: {word}}}").gates


def test_the_repository_changes_a_gate_of_the_organisation():
    found = rules("gates: {licence_missing: {severity: blocking}}", OWN_GATE).gates.get("licence_missing")
    assert (found.gate, found.severity, found.priority) == ("Licence", Severity.BLOCKING, 3)


def test_a_change_of_a_gate_that_the_organisation_dropped_is_said_not_applied():
    repository = config("gates: {licence_missing: {severity: blocking}}", config(OWN_GATE))
    with pytest.raises(RuleFileError, match=r"whetstone.yml:1:9: gates.licence_missing is not in any pack"):
        merge_rules(PACKS, None, repository)


def test_a_check_may_mean_a_gate_that_is_off_or_of_another_pack():
    found = rules(
        "extends: [knowledge-base]\nvalidators: {checks: {ci: [tests_failing]}}", "gates: {date_errors: off}"
    )
    assert found.validators.checks == (CheckRule("ci", ("tests_failing",)),)


def test_a_check_may_mean_a_gate_of_the_config_itself():
    found = rules(f"{OWN_GATE}validators: {{checks: {{reuse: [licence_missing]}}}}")
    assert found.validators.checks == (CheckRule("reuse", ("licence_missing",)),)


def test_a_claim_moves_to_the_list_that_names_it():
    found = rules("grounding: {grounding_rules: {grounding_not_required: [git_state]}}").grounding
    assert found.not_required == (ClaimType.GIT_STATE,)
    assert ClaimType.GIT_STATE not in found.mandatory
    assert len(found.mandatory) == 9


def test_the_grounding_section_validates_against_the_published_schema():  # rows 105, 106
    schema = json.loads(resources.files("bot").joinpath("schemas", "tool-grounding.json").read_text("utf-8"))
    section = {
        "version": "1.0.0",
        "grounding_rules": {
            "mandatory_grounding": list(DEFAULT_RULES.grounding.mandatory),
            "recommended_grounding": list(DEFAULT_RULES.grounding.recommended),
            "grounding_not_required": list(DEFAULT_RULES.grounding.not_required),
        },
        "verification_protocol": {
            "before_claim": {"check_required": True},
            "claim_format": {"include_source": True, "include_timestamp": False},
            "on_verification_failure": {"allow_unverified_claim": False},
        },
    }
    assert list(Draft202012Validator(schema).iter_errors(section)) == []
    assert rules(f"grounding: {json.dumps(section)}").grounding == DEFAULT_RULES.grounding


def test_windows_line_ends_and_a_byte_order_mark_do_no_harm():
    text = b"\xef\xbb\xbfcomment:\r\n  enabled: false\r\n"
    assert merge_rules(PACKS, None, load_config(text, FILE, PACKS)).comment == CommentRules(enabled=False)


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("check: {enabled: true}", CheckPolicy.ALWAYS),
        ("check: {enabled: false}", CheckPolicy.NEVER),
        ("check: {enabled: true, when: instead}", CheckPolicy.INSTEAD),
        ("check: {when: never}", CheckPolicy.NEVER),
        ("comment: {document: agents}", CheckPolicy.INSTEAD),
    ],
)
def test_the_older_key_of_the_check_run_still_counts(text, when):
    assert merge_rules(PACKS, None, load_config(f"version: 1\n{text}\n", FILE, PACKS)).check.when is when
