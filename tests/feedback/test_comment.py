"""The lines of the comment: whose turn it is, where we are, and each entry."""

from dataclasses import replace

import pytest
from inline_snapshot import snapshot

from bot.feedback import document as documents
from bot.feedback.build import build_feedback
from bot.feedback.marker import FEEDBACK_MARKER, MAX_MARKER_LENGTH, parse_document
from bot.feedback.render import render_superseded
from bot.gates.config import DocumentPolicy
from bot.markdown.escape import parse_marker
from bot.markdown.format import format_count
from bot.markdown.links import GitHubLinks
from bot.pull_request.events import ReviewState
from bot.pull_request.model import Item, Revision, Ruling, RulingAction, Stance, Validator, Verdict
from bot.values import Location
from bot.verdicts.reviews import merge_reviews
from tests.builders import (
    BOB,
    HEADS,
    KNOWLEDGE_BASE,
    RIO,
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
from tests.feedback.comment_builders import (
    CODE,
    CODERABBIT,
    CommentStory,
    comment_text,
    make_feedback,
    make_remark,
    make_test_failure,
)
from tests.findings.ledger_builders import inline

CART = "src/cart.py"
REVIEW = "https://github.com/acme/knowledge/pull/212#pullrequestreview-3"
UNTESTED = Item("tests_missing", "nothing tests it", Location(CART, 5))
FAILURE = make_test_failure("tests/test_a.py::test_login", "tests/test_a.py", 4, "expected 2, got 3")


def test_the_comment_on_a_review_with_tags_and_an_inline_suggestion():
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

**Next** (author): fix the 2 blocking issues below in this order and push once.

Iteration 1 of 5 at [`1111111`](https://github.com/acme/knowledge/commit/1111111111111111111111111111111111111111), reviewed by `alice`.

**[BLOCK] Date accuracy**: Invalid or incorrect date format in created field (auto-fixable)
  - Fix: created = extraction date (today), not source publication date. Format: YYYY-MM-DD. `date_errors`
  - Where: [`claims/futarchy.md:5`](https://github.com/acme/knowledge/blob/1111111111111111111111111111111111111111/claims/futarchy.md#L5) `month 13 is out of range` (Source: review by `alice` @ 1111111)
  - Suggested change: `created: 2026-11-15`

**[BLOCK] Title precision**: Title asserts more than the evidence supports
  - Fix: Scope the title to match the evidence strength. Single source = 'X suggests Y' not 'X proves Y'. Name the specific mechanism. `title_overclaims`

<details><summary>1 warning, not blocking: Duplicate check</summary>

**[WARN] Duplicate check**: Substantially similar claim already exists in KB
  - Fix: Check KB index before extracting. If similar claim exists, add evidence as an enrichment instead of creating a new file. `near_duplicate`

</details>\
""")


@pytest.mark.parametrize(
    ("story", "line"),
    [
        (CommentStory().reject(UNTESTED), "(author): fix the blocking issue below and push once."),
        (
            CommentStory().reject(UNTESTED, "error_handling_missing", "naming_unclear"),
            "(author): fix the 2 blocking issues below in this order and push once.",
        ),
        (
            CommentStory().check(FAILURE),
            "(author): make `tests/test_a.py::test_login` pass and push once.",
        ),
        (
            CommentStory().check(FAILURE).reject(UNTESTED),
            (
                "(author): make `tests/test_a.py::test_login` pass, fix the other issue below, and push once. "
                "Every reviewer and check has reported."
            ),
        ),
        (
            CommentStory().reject("naming_unclear"),
            "(author): change or answer the warning below, then re-request a review from `alice`.",
        ),
        (
            CommentStory().reject(),
            "(reviewer): `alice` requested changes but named none: ask what to change.",
        ),
        (
            CommentStory().reject(inline(1)).push("b", {5: "changed"}),
            "(reviewer): `alice` to review again: every blocking finding was changed or answered.",
        ),
        (
            CommentStory().reject(inline(1), inline(2, 9), inline(3, 15)).push("b", {9: "changed"}),
            "(author): fix `f1` and `f3` below and push once.",
        ),
        (
            CommentStory().reject(inline(1)).reply(1),
            "(reviewer): `alice` to review again: every blocking finding was changed or answered.",
        ),
        (
            CommentStory().reject("tests_missing").approve(),
            "(maintainer): merge it; nothing rejects it any more.",
        ),
        (
            CommentStory().change(draft=True).reject(inline(1)).reply(1),
            "(author): mark it ready for review.",
        ),
        (
            CommentStory().check(FAILURE).push("b"),
            "(checks): `ci / test` is still running: wait for it.",
        ),
        (
            CommentStory().check(FAILURE).reject(UNTESTED).push("b"),
            "(author): fix `tests_missing` below and push once. `ci / test` is still running: wait for it.",
        ),
    ],
)
def test_the_next_line_says_whose_turn_it_is_and_what_to_do(story, line):
    assert story.next() == f"**Next** {line}"


def test_an_escalation_needs_a_human_decision():
    story = CommentStory(author=RIO)
    for letter in "bcd":
        story.push(letter).reject("tests_missing")
    assert story.next() == "**Next** (maintainer): needs a human decision: `tests_missing` keeps coming back."
    story.rules = replace(CODE, iterations=replace(CODE.iterations, max=3))
    assert story.next() == (
        "**Next** (maintainer): needs a human decision: the budget of 3 iterations is used up."
    )


def test_the_budget_is_that_of_agents():
    story = CommentStory(rules=replace(CODE, iterations=replace(CODE.iterations, max=2)))
    story.reject("tests_missing").push("b").reject("tests_missing").push("c").reject("naming_unclear")
    assert story.feedback().verdict == "refine"


def appeal(story: CommentStory, name: str) -> CommentStory:
    ruling = Ruling(
        RulingAction.APPEAL,
        name,
        30,
        "carol",
        at_minute(60),
        story.pull_request.head,
        "not here",
        "comment:9/0",
    )
    return story.change(rulings=(ruling,))


def test_an_appeal_waits_for_a_maintainer_and_is_shown_at_its_entry():
    story = appeal(CommentStory().reject("tests_missing"), "tests_missing")
    assert story.next() == (
        "**Next** (maintainer): decide the appeal against `tests_missing`. `/feedback-dismiss tests_missing "
        "reason: …` upholds it, `/feedback-reject tests_missing reason: …` refuses it."
    )
    assert "\n  - Appealed: by `carol`, `not here`\n" in story.comment()


def test_a_finding_without_a_tag_is_appealed_by_its_id():
    story = appeal(CommentStory(author=RIO).reject(inline(1)), "f1")
    assert "decide the appeal against `f1`." in story.next()
    assert "\n  - Appealed: by `carol`, `not here`\n" in story.comment()


def test_a_push_that_nobody_reviewed_is_named_and_changes_neither_head_nor_id():
    story = CommentStory().reject(UNTESTED)
    before = story.marker()
    story.push("b", {9: "other"})
    assert ", reviewed by `alice`. `bbbbbbb` was pushed since; not reviewed yet.\n" in story.comment()
    assert (story.marker()["head"], story.marker()["id"]) == (before["head"], before["id"])


def test_what_did_not_occur_is_not_counted():
    story = CommentStory().reject(UNTESTED, "lint_errors").push("b", {9: "x"}).reject(UNTESTED)
    assert "Since iteration 1: 1 fixed, 1 still open.\n" in story.comment()


def test_a_dismissed_entry_is_no_fix():
    story = CommentStory().reject("docs_missing", "lint_errors", inline(1)).push("b", {9: "x"})
    story.reject(inline(1)).dismiss("lint_errors", where="a")
    story.reject("lint_errors").dismiss("lint_errors")
    assert "Since iteration 1: 1 fixed, 1 still open, 1 dismissed." in story.comment()
    assert "Dismissed: `lint_errors` by `bob` at `bbbbbbb` (`no`)." in story.comment()


def test_approving_without_a_push_fixes_nothing():
    story = CommentStory().reject("tests_missing", "lint_errors", UNTESTED).approve()
    assert story.visible().startswith("**Resolved** — 2 withdrawn, at [`aaaaaaa`]")


def test_a_dismissal_counts_as_dismissed_and_keeps_the_source():
    story = CommentStory().reject("tests_missing").dismiss("tests_missing")
    assert story.visible().startswith("**Resolved** — 1 dismissed, at [`aaaaaaa`]")
    assert story.marker()["source"] == "alice"


def test_approving_the_last_allowed_iteration_accepts():
    story = CommentStory(rules=replace(CODE, iterations=replace(CODE.iterations, max=1)))
    story.reject("tests_missing").approve()
    assert (story.marker()["verdict"], story.marker()["turn"]) == ("accept", "maintainer")


def test_a_document_s_own_severity_decides_whether_it_is_critical():
    major = Item("security_vulnerability", "a password", Location(CART, 3), severity="major")
    assert CommentStory().reject(major).marker()["verdict"] == "refine"
    assert CommentStory().reject(replace(major, severity="critical")).marker()["verdict"] == "reject"
    assert CommentStory().reject("security_vulnerability").marker()["verdict"] == "reject"
    with_suggestion = replace(major, severity="critical", suggestion="token = read()")
    assert CommentStory().reject(with_suggestion).marker()["verdict"] == "refine"


def test_two_reviewers_with_one_tag_are_both_quoted():
    story = CommentStory().reject(make_remark(1, CART, 5, "the first remark", "tests_missing"))
    story.reject(make_remark(2, CART, 9, "the second remark", "tests_missing"), who=BOB)
    entry = story.visible().split("\n\n")[3]
    assert entry == snapshot("""\
**[BLOCK] Test coverage**: Changed behaviour has no test that would fail without the change
  - Fix: Add a test that fails on the base branch and passes here: one for the usual case, and one for each edge case that the change affects. `tests_missing`
  - Where: [`src/cart.py:5`](https://github.com/acme/knowledge/blob/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/src/cart.py#L5) `the first remark`
  - Where: [`src/cart.py:9`](https://github.com/acme/knowledge/blob/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/src/cart.py#L9) `the second remark` (Source: reviews by `alice` and `bob` @ aaaaaaa)\
""")
    assert "1 blocking issue\n" in story.visible()


def test_two_reviewers_at_one_line_are_quoted_beside_each_other():
    story = CommentStory().reject(make_remark(1, CART, 5, "the first remark", "tests_missing"))
    story.reject(make_remark(2, CART, 5, "the second remark", "tests_missing"), who=BOB)
    where = next(line for line in story.comment().splitlines() if line.startswith("  - Where"))
    assert where.endswith(
        " `the first remark`; `the second remark` (Source: reviews by `alice` and `bob` @ aaaaaaa)"
    )


def test_at_most_three_locations_are_listed():
    story = CommentStory().reject(
        *(make_remark(n, CART, n, f"remark {n}", "tests_missing") for n in range(1, 6))
    )
    lines = [line for line in story.comment().splitlines() if line.startswith("  - Where")]
    assert len(lines) == 3
    assert lines[-1].endswith(" `remark 3`, and 2 more (Source: review by `alice` @ aaaaaaa)")


def test_the_source_is_at_the_head_that_was_reviewed():
    story = CommentStory().reject(make_remark(1, CART, 5, "a remark", "tests_missing"), "lint_errors")
    story.push("b", {9: "x"}).reject("lint_errors")
    assert "/blob/bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb/src/cart.py#L5) `a remark`" in story.comment()
    assert "(Source: review by `alice` @ aaaaaaa)" in story.comment()


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (
            make_remark(1, CART, 5, "slow"),
            snapshot("""\
**[BLOCK] Review comment**: `slow`
  - Fix: Change it, or reply in [the thread](https://github.com/acme/knowledge/pull/212#discussion_r1). `f1`
  - Where: [`src/cart.py:5`](https://github.com/acme/knowledge/blob/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/src/cart.py#L5) (Source: review by `alice` @ aaaaaaa)\
"""),
        ),
        (
            make_remark(1, CART, 5, "slow", label="issue"),
            snapshot("""\
**[BLOCK] Issue**: `slow`
  - Fix: Change it, or reply in [the thread](https://github.com/acme/knowledge/pull/212#discussion_r1). `f1`
  - Where: [`src/cart.py:5`](https://github.com/acme/knowledge/blob/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/src/cart.py#L5) (Source: review by `alice` @ aaaaaaa)\
"""),
        ),
        (
            make_remark(1, CART, 5, "slow", aspect="efficiency"),
            snapshot("""\
**[BLOCK] Efficiency**: `slow`
  - Fix: Change it, or reply in [the thread](https://github.com/acme/knowledge/pull/212#discussion_r1). `f1`
  - Where: [`src/cart.py:5`](https://github.com/acme/knowledge/blob/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/src/cart.py#L5) (Source: review by `alice` @ aaaaaaa)\
"""),
        ),
        (
            make_remark(1, CART, 5, "slow", suggestion="total = sum(prices)"),
            snapshot("""\
**[BLOCK] Review comment**: `slow`
  - Fix: `total = sum(prices)` `f1`
  - Where: [`src/cart.py:5`](https://github.com/acme/knowledge/blob/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/src/cart.py#L5) (Source: review by `alice` @ aaaaaaa)\
"""),
        ),
        (
            make_remark(1, CART, 5, "slow", looks_like="performance_regression", inferred=0.72),
            snapshot("""\
**[BLOCK] Review comment**: `slow`
  - Fix: Change it, or reply in [the thread](https://github.com/acme/knowledge/pull/212#discussion_r1). `f1` (looks like `performance_regression`)
  - Where: [`src/cart.py:5`](https://github.com/acme/knowledge/blob/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/src/cart.py#L5) (Source: review by `alice` @ aaaaaaa)\
"""),
        ),
        (
            make_remark(1, CART, 5, "slow", looks_like="performance_regression", inferred=0.4),
            snapshot("""\
**[BLOCK] Review comment**: `slow`
  - Fix: Change it, or reply in [the thread](https://github.com/acme/knowledge/pull/212#discussion_r1). `f1`
  - Where: [`src/cart.py:5`](https://github.com/acme/knowledge/blob/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/src/cart.py#L5) (Source: review by `alice` @ aaaaaaa)\
"""),
        ),
        (
            Item(None, "this is too slow", url=REVIEW),
            snapshot("""\
**[BLOCK] Review comment**: `this is too slow`
  - Fix: Change it, or reply to [the review](https://github.com/acme/knowledge/pull/212#pullrequestreview-3). `f1`\
"""),
        ),
    ],
)
def test_a_finding_without_a_tag(item, expected):
    assert CommentStory(author=RIO).reject(item).visible().split("\n\n")[3] == expected


@pytest.mark.parametrize(
    "url",
    [
        "https://ci.example.org/1) [click](https://evil.example",
        "javascript:alert(1)",
        "https://github.com/other/repository/pull/7",
        "https://ci.example.org/a b",
    ],
)
def test_the_address_of_a_check_s_result_breaks_nothing_and_touches_no_thread(url):
    text = CommentStory().check(replace(FAILURE, url=url)).visible()
    assert url not in text
    assert "[run]" not in text


def test_a_tag_that_plain_words_suggest_is_in_no_list():
    item = make_remark(1, CART, 5, "slow", looks_like="performance_regression", inferred=0.72)
    story = CommentStory(author=RIO).reject(item)
    assert (story.marker()["issues"], story.marker()["blocking"]) == ([], [])
    assert story.marker()["open"] == {"blocking": 1, "warnings": 0}


def test_an_agent_gets_every_thread_in_full():
    items = (make_remark(1, CART, 5, "first"), make_remark(2, CART, 9, "second"))
    assert "Review comments**: 2 threads" in CommentStory().reject(*items).comment()
    full = CommentStory(author=RIO).reject(*items).comment()
    assert full.count("**[BLOCK] Review comment**") == 2
    assert len(parse_document(full)["feedback_items"]) == 2


@pytest.mark.parametrize(
    "story",
    [
        CommentStory().reject(make_remark(1, CART, 5, "first")),
        CommentStory().reject(
            make_remark(1, CART, 5, "first"), make_remark(2, CART, 9, "second"), "lint_errors"
        ),
        CommentStory()
        .reject(make_remark(1, CART, 5, "first"))
        .reject(make_remark(2, CART, 9, "second"), who=BOB),
        CommentStory().reject(make_remark(1, CART, 5, "first"), Item(None, "and the tests are red")),
        CommentStory().reject(
            make_remark(1, CART, 5, "first"), make_remark(2, CART, 9, "second"), validator=CODERABBIT
        ),
    ],
)
def test_what_is_not_several_threads_of_one_person_is_no_short_form(story):
    assert "Machine-readable feedback" in story.comment()


@pytest.mark.parametrize(
    ("policy", "for_people", "for_agents"),
    [
        (DocumentPolicy.ALWAYS, True, True),
        (DocumentPolicy.AGENTS, False, True),
        (DocumentPolicy.NEVER, False, False),
    ],
)
def test_the_config_says_whose_comments_carry_the_document(policy, for_people, for_agents):
    rules = replace(CODE, comment=replace(CODE.comment, document=policy))
    person = CommentStory(rules=rules).reject("tests_missing").comment()
    agent = CommentStory(author=RIO, rules=rules).reject("tests_missing").comment()
    assert (parse_document(person) is not None, parse_document(agent) is not None) == (for_people, for_agents)


def test_a_label_that_somebody_else_removed_still_counts():
    story = CommentStory().reject("tests_missing", id="label:tests_missing", unlabelled_by="mallory")
    said = (
        "`mallory` removed the label `gate:tests_missing`, but is not a validator here, so it still counts."
    )
    assert story.comment().count(said) == story.comment().count("removed the label") == 1


@pytest.mark.parametrize(("tags", "more"), [(1, 0), (10, 0), (40, 0), (300, 200)])
def test_heading_and_list_agree_however_many_tags_there_are(tags, more):
    names = tuple(f"rule_number_{n}" for n in range(tags))
    said = comment_text(issues_marker("date_errors", *names[1:]))
    blocking, warnings = parse_marker(FEEDBACK_MARKER, said)["open"].values()
    listed = said.count("**[BLOCK]") + said.count("**[WARN]")
    line = next((line for line in said.splitlines() if line.startswith("and ")), "and 0 more")
    assert listed + int(line.split()[1]) == blocking + warnings
    counts = ["1 blocking issue"] + ([format_count(warnings, "warning")] if warnings else [])
    assert said.split("\n\n")[1] == f"**Rejected** — {', '.join(counts)}"
    assert (f"{more} further tags named in the review are not counted" in said) == bool(more)


def test_the_marker_stays_short_and_says_that_somebody_is_awaited():
    story = CommentStory().reject("tests_missing")
    pending = tuple(f"a check with a long name, number {n}" * 3 for n in range(40))
    text = render_feedback(replace(story.feedback(), pending=pending))
    assert len(text.partition("\n")[0]) <= MAX_MARKER_LENGTH
    assert parse_marker(FEEDBACK_MARKER, text)["pending"]


@pytest.mark.parametrize(
    ("tags", "items", "more"),
    [
        (("date_errors",), "1 finding", None),
        (KNOWLEDGE_BASE.tags[:10], "10 findings", None),
        (KNOWLEDGE_BASE.tags[:12], "12 findings", 2),
    ],
)
def test_the_documents_fold_counts_all_findings_even_those_it_has_no_room_for(tags, items, more):
    said = comment_text(issues_marker(*tags))
    assert f"<details><summary>Machine-readable feedback (JSON, {items})</summary>" in said
    assert parse_document(said).get("more") == more


def rejected_by(*validators):
    """What the thread shows while each of these rejects for wrong dates."""
    item = Item("date_errors", "month 13")
    verdicts = (Verdict(f"v:{v.key}", v, Stance.REJECTS, at_minute(3), HEADS[0], (item,)) for v in validators)
    return render_feedback(
        build_feedback(make_pull_request(verdicts=tuple(verdicts)), RULES, make_decision_time()), SITE
    )


@pytest.mark.parametrize(
    ("tools", "reviewers", "source"),
    [
        (("check:ruff",), "`ruff`", "check `ruff` @ 1111111"),
        (
            ("check:validate", "validation:1:ruff"),
            "`validate` and `ruff`",
            "check `validate` @ 1111111, v by `ruff`",
        ),
    ],
)
def test_checks_and_logs_are_named_as_reviewers(tools, reviewers, source):
    shown = rejected_by(*(Validator(key, key.rpartition(":")[2], bot=True, check=True) for key in tools))
    assert f", reviewed by {reviewers}." in shown
    assert f"(Source: {source}" in shown


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
        "the first revision of acme/knowledge#212 that was reviewed."
    )
    assert "\n\nIteration 6 (the budget was 5) at [`1111111`]" in render_feedback(late, SITE)


@pytest.mark.parametrize(
    ("reviews", "said"),
    [
        ([make_review(4, state=ReviewState.APPROVED, author=BOB)], "reviewed by `alice`; `bob` approves."),
        ([make_review(4, "<!-- ISSUES: scope_error -->", author=BOB)], "reviewed by `alice` and `bob`."),
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
    assert ", reviewed by `bob`, who approves. The earlier rejection by `alice` still stands." in shown


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
