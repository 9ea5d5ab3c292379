"""The defaults of the product, and the small questions that its rules answer."""

from __future__ import annotations

import pytest

from bot.gates.config import (
    AuthorNaming,
    AuthorRules,
    CheckPolicy,
    CheckRule,
    ClaimType,
    CommentPolicy,
    CommentRules,
    DetectionConfig,
    EscalationRules,
    HintAudience,
    HistoryRules,
    IterationRules,
    OverrideRules,
    Permission,
    QualityRules,
    RepositoryRules,
    ValidatorRules,
    Weekday,
    WeeklyRules,
)
from bot.gates.problems import RuleFileError, RuleFileProblem

DEFAULT_RULES = RepositoryRules()


def test_both_packs_are_in_force_unless_a_config_says_otherwise():
    assert DEFAULT_RULES.extends == ("knowledge-base", "code-review")


def test_a_comment_where_it_is_useful_else_the_check_and_no_suggestions_or_labels():
    assert DEFAULT_RULES.comment == CommentRules(
        enabled=True, when=CommentPolicy.USEFUL, suggestions=False, labels=False
    )
    assert DEFAULT_RULES.check.when is CheckPolicy.INSTEAD


def test_a_reviewer_counts_from_the_permission_to_write():
    assert DEFAULT_RULES.validators == ValidatorRules(permission=Permission.WRITE)
    assert DEFAULT_RULES.overrides == OverrideRules(by_author=False)


def test_a_pull_request_has_five_iterations_and_the_third_repeat_in_five_escalates():  # rows 8, 52, 56, 83
    assert DEFAULT_RULES.iterations.max == 5
    assert DEFAULT_RULES.iterations.threshold == 0.70
    assert DEFAULT_RULES.iterations.escalate == EscalationRules(
        enabled=True, repeats=3, window=5, mention=None
    )
    assert IterationRules() == DEFAULT_RULES.iterations


def test_the_week_is_summed_up_on_monday_at_nine_and_names_agents_only():
    assert DEFAULT_RULES.weekly == WeeklyRules(
        enabled=True, day=Weekday.MONDAY, time="09:00", timezone="UTC", authors=AuthorNaming.AGENTS
    )


def test_the_history_looks_at_7_30_or_90_days_of_this_repository():
    assert DEFAULT_RULES.history == HistoryRules(
        periods=(7, 30, 90), minimum=5, dead_after_days=14, shared=False
    )


def test_vague_feedback_is_told_to_agents_and_strictness_is_off():  # row 50
    assert DEFAULT_RULES.quality == QualityRules(tell=HintAudience.AGENTS, strict=False)


def test_a_finding_is_shown_from_sixty_percent_and_a_brief_refined_three_times():  # row 240
    assert DEFAULT_RULES.detection == DetectionConfig(
        enabled=True, threshold=0.6, cues=(), max_refinement_iterations=3
    )


def test_grounding_has_the_documents_defaults():  # rows 119, 121, 122, 123, 125
    grounding = DEFAULT_RULES.grounding
    assert (grounding.enabled, grounding.reads) == (True, 5)
    assert (grounding.check_required, grounding.include_source, grounding.include_timestamp) == (
        True,
        True,
        False,
    )
    assert grounding.format_template == "[Claim] (Source: [tool/observation])"
    assert grounding.allow_unverified_claim is False


def test_every_kind_of_claim_is_mandatory_recommended_or_not_required():  # rows 107 to 118
    grounding = DEFAULT_RULES.grounding
    assert [len(part) for part in (grounding.mandatory, grounding.recommended, grounding.not_required)] == [
        10,
        4,
        4,
    ]
    assert (*grounding.mandatory, *grounding.recommended, *grounding.not_required) == tuple(ClaimType)


def test_a_stronger_role_may_do_all_that_a_weaker_one_may():
    assert [role for role in Permission if role.is_at_least(Permission.WRITE)] == [
        "write",
        "maintain",
        "admin",
    ]


@pytest.mark.parametrize(
    ("login", "bot", "named"),
    [
        ("alice", False, True),
        ("Alice", False, True),
        ("alice", True, False),
        ("coderabbitai[bot]", True, True),
        ("CodeRabbitAI[bot]", True, True),
        ("coderabbitai", False, False),
    ],
)
def test_validators_are_named_by_login_without_regard_to_case(login, bot, named):
    validators = ValidatorRules(users=("ALICE",), apps=("coderabbitai",))
    assert validators.is_named(login, bot=bot) is named


def test_agents_are_bots_and_the_accounts_named_so():
    authors = AuthorRules(agents=("rio",))
    assert authors.is_agent("Rio", bot=False)
    assert authors.is_agent("anyone[bot]", bot=True)
    assert not authors.is_agent("alice", bot=False)


@pytest.mark.parametrize(
    ("name", "check", "covered"),
    [
        ("ci", "ci", True),
        ("ci", "ci / lint", False),
        ("/^ci/", "CI / lint", True),
        ("/lint$/", "ci / lint", True),
        ("/lint$/", "ci / lint 2", False),
    ],
)
def test_a_check_is_meant_by_its_name_or_by_an_expression(name, check, covered):
    assert CheckRule(name).covers(check) is covered


def test_a_problem_is_one_line_that_an_editor_can_jump_to():
    problem = RuleFileProblem(
        "rules/house.yml", 12, 15, 'gates.date_errors.severity is "hi"', "use one of blocking, warning"
    )
    line = 'rules/house.yml:12:15: gates.date_errors.severity is "hi"; use one of blocking, warning'
    assert str(problem) == line
    assert str(RuleFileError((problem, problem))) == f"{line}\n{line}"
