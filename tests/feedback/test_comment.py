"""The comment reads as the specification says."""

from dataclasses import replace

import pytest
from inline_snapshot import snapshot

from bot.feedback import document as documents
from bot.feedback.build import build_feedback
from bot.feedback.marker import FEEDBACK_MARKER, parse_document
from bot.feedback.render import render_superseded
from bot.markdown.escape import parse_marker
from bot.markdown.links import GitHubLinks
from bot.pull_request.events import ReviewState
from bot.pull_request.model import Item, Revision, Stance, Validator, Verdict
from bot.verdicts.reviews import merge_reviews
from tests.builders import (
    BOB,
    HEADS,
    KNOWLEDGE_BASE,
    RULES,
    SITE,
    at_minute,
    issues_marker,
    make_decision_time,
    make_facts,
    make_inline_comment,
    make_pull_request,
    make_review,
    render_feedback,
)
from tests.feedback.comment_builders import comment_text, make_feedback


def test_the_comment_reads_as_the_model_does():
    said = comment_text(
        "<!-- ISSUES: title_overclaims, near_duplicate -->",
        (
            make_inline_comment(
                71, 3, "[date_errors] month 13 is out of range\n```suggestion\ncreated: 2026-11-15\n```"
            ),
        ),
    )
    visible = said.split("\n\n<details><summary>Machine-readable")[0].split("\n\n", 1)[1]
    assert visible == snapshot("""\
**Rejected** — 2 blocking issues, 1 warning

Iteration 1 of 5 at [`1111111`](https://github.com/acme/knowledge/commit/1111111111111111111111111111111111111111), judged by `alice`.

**Next**: fix the 2 blocking issues in this order.

**[BLOCK] Date accuracy**: Invalid or incorrect date format in created field (auto-fixable)
  - Fix: created = extraction date (today), not source publication date. Format: YYYY-MM-DD. `date_errors`
  - Where: [`claims/futarchy.md:5`](https://github.com/acme/knowledge/blob/1111111111111111111111111111111111111111/claims/futarchy.md#L5) — `month 13 is out of range` (Source: inline comment by `alice` @ 1111111)
  - Write: `created: 2026-11-15`

**[BLOCK] Title precision**: Title asserts more than the evidence supports
  - Fix: Scope the title to match the evidence strength. Single source = 'X suggests Y' not 'X proves Y'. Name the specific mechanism. `title_overclaims`

<details><summary>1 warning, not blocking: Duplicate check</summary>

**[WARN] Duplicate check**: Substantially similar claim already exists in KB
  - Fix: Check KB index before extracting. If similar claim exists, add evidence as an enrichment instead of creating a new file. `near_duplicate`

</details>\
""")


@pytest.mark.parametrize(
    ("tags", "items", "more"),
    [
        (("date_errors",), "1 item", None),
        (KNOWLEDGE_BASE.tags[:10], "10 items", None),
        (KNOWLEDGE_BASE.tags[:12], "12 items", 2),
    ],
)
def test_the_documents_fold_counts_all_items_also_those_it_has_no_room_for(tags, items, more):
    said = comment_text(issues_marker(*tags))
    assert f"<details><summary>Machine-readable feedback (JSON, {items})</summary>" in said
    assert parse_document(said).get("more") == more


@pytest.mark.parametrize(
    ("tags", "what"),
    [(("near_duplicate",), "the warning"), (("near_duplicate", "not_known"), "the 2 warnings")],
)
def test_who_names_only_warnings_is_asked_what_else_blocks(tags, what):
    assert (
        f"**Next**: mend {what}, or ask `alice` what else blocks."
        in comment_text(issues_marker(*tags)).splitlines()
    )


def rejected_by(*validators):
    """What the thread shows while each of these rejects for wrong dates."""
    item = Item("date_errors", "month 13")
    said = (Verdict(f"v:{v.key}", v, Stance.REJECTS, at_minute(3), HEADS[0], (item,)) for v in validators)
    return render_feedback(
        build_feedback(make_pull_request(verdicts=tuple(said)), RULES, make_decision_time()), SITE
    )


@pytest.mark.parametrize(
    ("tools", "judges", "then"),
    [
        (("check:ruff",), "the check `ruff`", "make `ruff` pass"),
        (("validation:1:ruff",), "the log of `ruff`", "hand in a clean log of `ruff`"),
        (("forgotten:x:validation:ruff",), "the log of `ruff`", "hand in a clean log of `ruff`"),
        (
            ("check:validate", "validation:1:ruff"),
            "the check `validate` and the log of `ruff`",
            "make `validate` pass and hand in a clean log of `ruff`",
        ),
    ],
)
def test_a_log_that_was_handed_in_is_no_check_that_could_pass(tools, judges, then):
    shown = rejected_by(*(Validator(key, key.rpartition(":")[2], bot=True, check=True) for key in tools))
    assert f", judged by {judges}.\n" in shown
    assert f"**Next**: fix the blocking issue, then {then}.\n" in shown


def test_the_document_has_the_markers_time_and_budget_and_a_short_score():
    found = make_feedback("<!-- ISSUES: date_errors -->")
    late = replace(
        found,
        at=found.at.replace(microsecond=307358),
        iteration=replace(found.iteration, number=6),
        score=0.8333,
    )
    whole = documents.build_document(late)
    data = parse_marker(FEEDBACK_MARKER, render_feedback(late, SITE))
    assert (whole["timestamp"], whole["iteration"]["max"]) == (data["ts"], data["max_iterations"])
    assert whole["overall_assessment"]["score"] == 0.83
    assert whole["overall_assessment"]["summary"] == (
        "1 blocking issue at iteration 6 (the budget was 5): "
        "the first revision of acme/knowledge#212 that was judged."
    )
    assert "\n\nIteration 6 (the budget was 5) at [`1111111`]" in render_feedback(late, SITE)


@pytest.mark.parametrize(
    ("reviews", "said"),
    [
        ([make_review(4, state=ReviewState.APPROVED, author=BOB)], "judged by `alice`; `bob` approves."),
        ([make_review(4, "<!-- ISSUES: scope_error -->", author=BOB)], "judged by `alice` and `bob`."),
    ],
)
def test_whoever_approves_is_not_named_among_those_who_reject(reviews, said):
    read = make_facts(make_review(3, "<!-- ISSUES: date_errors -->"), *reviews)
    shown = render_feedback(
        build_feedback(
            merge_reviews(make_pull_request(), read, RULES, at_minute(5)), RULES, make_decision_time()
        ),
        SITE,
    )
    assert f"), {said}\n" in shown


def test_an_approval_of_the_new_head_is_told_beside_the_earlier_verdict():
    moved = make_pull_request(
        head=HEADS[1], revisions=(Revision(HEADS[0], at_minute(0)), Revision(HEADS[1], at_minute(4)))
    )
    approval = make_review(5, state=ReviewState.APPROVED, author=BOB, head=HEADS[1])
    read = make_facts(make_review(3, "<!-- ISSUES: date_errors -->"), approval)
    shown = render_feedback(
        build_feedback(merge_reviews(moved, read, RULES, at_minute(6)), RULES, make_decision_time()), SITE
    )
    assert ", judged by `bob`, who approves. The earlier verdict of `alice` still stands." in shown


def test_the_superseded_line_carries_no_marker():
    assert render_superseded("https://github.com/a/b/pull/1#issuecomment-2") == (
        "Superseded by [a newer comment](https://github.com/a/b/pull/1#issuecomment-2)."
    )


def test_on_another_host_links_lead_there():
    site = replace(SITE, web=GitHubLinks("https://git.example.org"))
    assert "https://git.example.org/acme/knowledge/commit/" in render_feedback(
        make_feedback("[date_errors]"), site
    )


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("src/auth.py", "code"),
        ("claims/futarchy.md", "document"),
        ("tests/test_auth.py", "test"),
        ("web/login.spec.ts", "test"),
        ("bot/schemas/pack.json", "schema"),
        ("api/user.proto", "schema"),
        ("config/app.yml", "configuration"),
        ("Dockerfile", "configuration"),
        (".editorconfig", "configuration"),
        ("logo.png", "artifact"),
    ],
)
def test_the_target_kind_follows_from_the_path(path, kind):  # row 11
    assert documents.artifact_kind(path) == kind
