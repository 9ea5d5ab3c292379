"""Whatever happens to a pull request, in whatever order it is reported, the ledger stays true."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.findings.ledger import HeadOrder, build_ledger, standing_verdicts
from bot.pull_request.model import FindingStatus, Item, Stance
from bot.pull_request.record import add_head
from bot.values import Location
from tests.builders import ALICE, BOB, RIO, at_minute
from tests.findings.ledger_builders import CART, Story, inline, prose

TAGS = ("date_errors", "title_overclaims", "scope_error")
PEOPLE = (ALICE, BOB)

_line = st.integers(1, 18)
_items = st.lists(
    st.one_of(
        st.builds(Item, st.sampled_from(TAGS)),
        st.builds(
            lambda tag, line: Item(tag, f"at {line}", Location(CART, line)), st.sampled_from(TAGS), _line
        ),
        st.builds(lambda number: prose(f"remark {number}"), st.integers(1, 3)),
        st.builds(
            lambda number, line, tag: inline(number, line, tag, f"thread {number}"),
            st.integers(1, 4),
            _line,
            st.sampled_from((None, *TAGS)),
        ),
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda item: (item.comment_id, item.tag) if item.comment_id else (item.tag, str(item.place)),
)
_checks = st.tuples(
    st.just("check"), st.sampled_from((None, None, "test_a", "test_b")), st.sampled_from((1, 2, 3))
)
_late = st.one_of(
    st.tuples(st.just("check"), st.sampled_from((None, "test_a", "test_b")), st.just(0)),
    st.tuples(st.just("late"), _items, st.sampled_from(PEOPLE)),
)
acts_strategy = st.lists(
    st.one_of(
        st.tuples(st.just("reject"), _items, st.sampled_from(PEOPLE), st.booleans()),
        st.tuples(st.just("approve"), st.sampled_from(PEOPLE)),
        st.tuples(st.just("comment"), _items, st.sampled_from(PEOPLE)),
        st.tuples(st.just("push"), st.sampled_from("abcd"), st.dictionaries(_line, st.just("x"), max_size=3)),
        st.tuples(
            st.just("resolve"),
            st.sampled_from((101, 102, 103, 201, 202)),
            st.sampled_from((ALICE, BOB, RIO)),
            st.booleans(),
        ),
        st.tuples(st.just("call"), st.just("reply"), st.sampled_from((101, 102, 103, 201, 202))),
        st.tuples(st.just("call"), st.just("request_review"), st.sampled_from(PEOPLE)),
        st.tuples(st.just("call"), st.just("dismiss"), st.sampled_from((*TAGS, "tests_failing"))),
        st.tuples(st.just("lift"), st.integers(0, 9)),
        st.tuples(st.just("edit"), st.integers(0, 9)),
        _checks,
        _late,
    ),
    min_size=1,
    max_size=14,
)


def play(acts) -> Story:
    story = Story()
    for act in acts:
        _play_one(story, act)
    return story


def _play_one(story: Story, act) -> None:
    match act:
        case ("reject", items, who, repeats):
            story.reject(*_own_threads(items, who), who=who, repeats=repeats)
        case ("approve", who):
            story.approve(who=who)
        case ("comment", items, who):
            tagged = [item for item in _own_threads(items, who) if item.tag]
            story.verdict(Stance.SILENT, *tagged, who=who)
        case ("push", letter, changed):
            story.push(letter, changed)
        case ("resolve", comment, by, resolved):
            story.resolve(comment, by, "write" if by is BOB else None, resolved=resolved)
        case ("call", method, argument):
            getattr(story, method)(argument)
        case ("lift" | "edit", index):
            _take_back(story, index, as_a_whole=act[0] == "lift")
        case ("check", test, suite):
            failure = Item("tests_failing", "assert 1 == 2", part=("test", test or ""))
            trigger = "push" if suite == 1 else "pull_request"
            where = None if suite else story.pull_request.heads[0].head[0]
            story.check(*((failure,) if test else ()), suite=suite, trigger=trigger, where=where)
        case ("late", items, who):
            first = story.pull_request.heads[0].head[0]
            story.reject(*_own_threads(items, who), who=who, where=first)


def _take_back(story: Story, index: int, *, as_a_whole: bool) -> None:
    """Dismiss this review, counted from the newest, or edit its first remark out."""
    verdicts = story.pull_request.verdicts
    reviews = [i for i, verdict in enumerate(verdicts) if verdict.id.startswith("review:")]
    if not reviews:
        return
    index = reviews[-1 - index % len(reviews)]
    items = verdicts[index].items
    if as_a_whole:
        story.change_verdict(index, lifted_at=at_minute(story.tick()))
    elif items:
        removed = replace(items[0], removed_at=at_minute(story.tick()))
        story.change_verdict(index, items=(removed, *items[1:]))


def _own_threads(items, who) -> list[Item]:
    """A thread belongs to who started it."""
    return [replace(i, comment_id=i.comment_id + 100 * who.id) if i.comment_id else i for i in items]


def summary(pull_request):
    """Everything about the findings but their numbers, which go by arrival."""
    return sorted(
        repr((f.validator.key, f.item.tag, f.item.words, f.item.place, f.status, f.changes, f.head))
        for f in build_ledger(pull_request).findings
    )


@settings(max_examples=150, deadline=None)
@given(acts_strategy, st.randoms(use_true_random=False))
def test_the_order_of_arrival_does_not_matter(acts, chance: random.Random):
    pull_request = play(acts).pull_request
    verdicts, rulings = list(pull_request.verdicts), list(pull_request.rulings)
    threads, spans = list(pull_request.conversation.threads), list(pull_request.heads)
    for values in (verdicts, rulings, threads, spans):
        chance.shuffle(values)
    heads: tuple = ()
    for span in spans:
        heads = add_head(heads, span.head, span.first)
    shuffled = replace(
        pull_request,
        verdicts=tuple(verdicts),
        rulings=tuple(rulings),
        heads=heads,
        conversation=replace(pull_request.conversation, threads=tuple(threads)),
    )
    assert summary(shuffled) == summary(pull_request)


@settings(max_examples=150, deadline=None)
@given(acts_strategy)
def test_the_authors_replies_and_requests_change_no_status(acts):
    story = play(acts)
    before = summary(story.pull_request)
    for comment in (101, 102, 103, 201, 202):
        story.reply(comment)
    story.request_review(ALICE)
    assert summary(story.pull_request) == before


@settings(max_examples=150, deadline=None)
@given(acts_strategy)
def test_nothing_is_fixed_without_a_later_head(acts):
    pull_request = play(acts).pull_request
    order = HeadOrder(pull_request)
    for finding in build_ledger(pull_request).findings:
        reported = None
        for change in finding.changes:
            if change.status is FindingStatus.FIXED:
                assert reported is not None
                # A head that comes back brings the passes of its checks along, in the second of its return.
                assert order.position(change.head, change.at + timedelta(seconds=1)) > reported
            elif change.status.is_open:
                reported = order.position(change.head, change.at)


@settings(max_examples=150, deadline=None)
@given(acts_strategy)
def test_no_finding_is_closed_without_an_act_of_its_validator_a_maintainer_or_its_check(acts):
    pull_request = play(acts).pull_request
    for finding in build_ledger(pull_request).findings:
        for change in finding.changes:
            if not change.status.is_open:
                assert change.by in {finding.validator.name, "bob"}
                assert change.by != RIO.login


@settings(max_examples=150, deadline=None)
@given(acts_strategy)
def test_an_open_finding_stays_until_its_validator_a_maintainer_or_its_check_acts(acts):
    story = Story()
    for act in acts:
        before = build_ledger(story.pull_request).open
        _play_one(story, act)
        now = {key: f for f in build_ledger(story.pull_request).findings for key in f.keys}
        for finding in before:
            kept = now[finding.keys[0]]
            assert kept.is_open or _may_close(act, finding.validator)


def _may_close(act, validator) -> bool:
    match act:
        case ("reject" | "late", _, who, *_) | ("approve", who):
            return who.login == validator.name
        case ("resolve", _, by, _):
            return by.login in {validator.name, BOB.login}
        case ("check" | "push", *_):  # a push can bring back a head at which it has passed
            return validator.check
        case _:
            return act[0] in {"lift", "edit"} or act[:2] == ("call", "dismiss")


@settings(max_examples=150, deadline=None)
@given(st.lists(_checks, max_size=4), st.lists(_checks, min_size=1, max_size=8), st.booleans())
def test_a_check_fails_while_the_newest_run_of_a_suite_that_counts_does(before, after, returns):
    acts = [*before, ("push", "b", {}), *after]
    if returns:
        acts += [
            ("push", "c", {}),
            ("check", "test_a" if after[-1][1] is None else None, 1),
            ("push", "b", {}),
        ]
    pull_request = play(acts).pull_request
    head = pull_request.head
    runs = [v for v in pull_request.verdicts if v.validator.check and v.head == head]
    newest = {run.suite: run for run in runs}
    # The second and the third suite are of one event: the newer one replaces the older.
    counting = [run for suite, run in newest.items() if suite != 2 or 3 not in newest]
    standing = [v for v in standing_verdicts(build_ledger(pull_request)) if v.validator.check]
    fails = any(run.stance is Stance.REJECTS for run in counting)
    assert [verdict.stance is Stance.REJECTS for verdict in standing] == [fails]


@settings(max_examples=150, deadline=None)
@given(acts_strategy)
def test_a_finding_keeps_its_id_while_more_happens(acts):
    story, ids = Story(), {}
    for act in acts:
        _play_one(story, act)
        ledger = build_ledger(story.pull_request)
        story.pull_request = replace(story.pull_request, findings=ledger.records())
        numbers = [finding.number for finding in ledger.findings]
        assert len(set(numbers)) == len(numbers)
        for finding in ledger.findings:
            assert ids.setdefault(finding.keys[0], finding.id) == finding.id


@settings(max_examples=150, deadline=None)
@given(acts_strategy, st.lists(_late, max_size=3))
def test_the_standing_verdicts_list_exactly_the_open_findings_of_those_who_reject(acts, late):
    passed = [("push", "d", {}), ("approve", ALICE), ("check", None, 1)] if late else []
    pull_request = play([*acts, *passed, *late]).pull_request
    ledger, order = build_ledger(pull_request), HeadOrder(pull_request)
    standing = standing_verdicts(ledger)
    listed = [item.finding for verdict in standing for item in verdict.items]
    assert len(set(listed)) == len(listed)
    rejecting = {v.validator.key for v in standing if v.stance is Stance.REJECTS}
    assert sorted(listed) == sorted(f.id for f in ledger.open if f.validator.key in rejecting)
    assert {finding.validator.key for finding in ledger.open} <= rejecting
    for verdict in standing:
        if verdict.stance is Stance.APPROVES:
            position = order.position_of(verdict)
            assert not [
                finding
                for finding in ledger.of(verdict.validator.key)
                if finding.is_open and order.position(finding.head, finding.reported_at) <= position
            ]
