"""What becomes of a slash command: values in, the whole outcome out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.commands.catalogue import SLASH_COMMANDS
from bot.commands.decide import decide_command
from bot.commands.invocation import find_invocations
from bot.commands.model import CommandFacts, CommandOutcome, join_replies
from bot.commands.overrides import open_names
from bot.commands.text import forget_text, help_text
from bot.history.model import StoredCounts
from bot.pull_request.effects import (
    AddReaction,
    CommandSource,
    ForgetPerson,
    PostedReply,
    PostReply,
    ReactionKind,
    is_superseded,
    join_topics,
)
from bot.pull_request.events import CommentEvent
from bot.pull_request.model import Item, Ruling, RulingAction, Stance, Validator, Verdict
from tests.builders import ALICE, BOB, HEADS, ME, REPOSITORY, RIO, RULES, SITE, at_minute, make_pull_request

KEY = "comment:81/0"
EYES = AddReaction(REPOSITORY, CommandSource.COMMENT, 81, "", ReactionKind.EYES)
CONFUSED = replace(EYES, face=ReactionKind.CONFUSED)
REJECTED = make_pull_request(
    verdicts=(
        Verdict(
            "review:1",
            Validator("user:1", "alice"),
            Stance.REJECTS,
            at_minute(1),
            HEADS[0],
            (Item("date_errors"), Item("scope_error")),
        ),
    )
)


def order(body, by=BOB, sender=None):
    seen = CommentEvent(
        "created", REPOSITORY, 212, 81, by, sender or by, body, at_minute(5), at_minute(5), ""
    )
    (found,) = find_invocations([seen])
    return found


def decided(body, by=BOB, known=REJECTED, sender=None, **facts):
    read = CommandFacts(ME, at_minute(6), **{"role": "write", **facts})
    return decide_command(order(body, by, sender), known, read, RULES, SITE)


def reply(body, by=BOB, topic=None):
    return PostReply(REPOSITORY, 212, KEY, topic, by.id, at_minute(6), body)


def test_help_is_a_face_and_one_answer():
    outcome = decided("/feedback-help")
    assert outcome == CommandOutcome(
        REJECTED, (EYES,), (reply(help_text(SLASH_COMMANDS), topic="help:HelpAsked()"),)
    )


@pytest.mark.parametrize(
    ("by", "sender", "role"),
    [
        (ME, None, "admin"),  # our own App, always
        (replace(RIO, id=11), None, "write"),  # a bot that is not this pull request's author
        (BOB, ALICE, "write"),  # somebody else changed Bob's words
    ],
)
def test_whoever_is_not_listened_to_gets_nothing(by, sender, role):
    assert decided("/feedback-help", by, sender=sender, role=role) == CommandOutcome(REJECTED)


@pytest.mark.parametrize("role", [None, "read", "triage"])
def test_dismissing_takes_write(role):
    said = "/feedback-dismiss date_errors reason: it is right"
    assert decided(said, role=role) == CommandOutcome(REJECTED, (CONFUSED,))


def test_the_author_dismisses_nothing_of_their_own():
    mine = replace(REJECTED, author=BOB)
    said = "/feedback-dismiss date_errors reason: it is right"
    assert decided(said, known=mine) == CommandOutcome(mine, (CONFUSED,))


def test_a_dismissal_is_bound_to_the_head_that_was_seen():
    outcome = decided("/feedback-dismiss date_errors reason: it is right")
    ruling = Ruling(
        RulingAction.DISMISS, "date_errors", BOB.id, "bob", at_minute(5), HEADS[0], "it is right", KEY
    )
    assert outcome.pull_request == replace(REJECTED, rulings=(ruling,))
    assert (outcome.reactions, len(outcome.replies)) == ((EYES,), 1)


def test_a_tag_that_is_not_open_is_not_dismissed():
    outcome = decided("/feedback-dismiss near_duplicate reason: it is right")
    (answer,) = outcome.replies
    assert (outcome.pull_request, answer.body) == (
        REJECTED,
        "`near_duplicate` is not open here. 2 issues open: `date_errors` and `scope_error`.\n",
    )


def test_a_command_that_was_answered_is_not_answered_again():
    before = (PostedReply(KEY, "help:HelpAsked()", BOB.id, at_minute(5)),)
    assert decided("/feedback-help", replies=before) == CommandOutcome(REJECTED)


@pytest.mark.parametrize(("minutes_ago", "answers"), [([0.5], 0), ([2], 1), ([60 + n for n in range(10)], 0)])
def test_a_bot_gets_one_answer_a_minute_and_ten_a_day(minutes_ago, answers):
    before = tuple(
        PostedReply(f"comment:{n}/0", "x", RIO.id, at_minute(6 - ago)) for n, ago in enumerate(minutes_ago)
    )
    outcome = decided("/feedback-help", RIO, role=None, replies=before)
    assert len(outcome.replies) == answers


def earlier(by, minutes_ago, topic="x"):
    return tuple(
        PostedReply(f"comment:{n}/0", topic, by.id, at_minute(6 - ago)) for n, ago in enumerate(minutes_ago)
    )


TOO_MANY = [60 + n for n in range(10)]


@pytest.mark.parametrize(
    ("role", "minutes_ago", "listened_to"),
    [
        ("read", [], True),
        ("read", [0.5], False),
        ("read", [2], True),
        ("read", TOO_MANY, False),
        (None, [0.5], False),
        ("triage", [0.5], True),
        ("write", TOO_MANY, True),
    ],
)
def test_who_only_looks_on_gets_one_answer_a_minute_and_ten_a_day(role, minutes_ago, listened_to):
    outcome = decided("/feedback-help", role=role, replies=earlier(BOB, minutes_ago))
    faces = (EYES,) if listened_to else (CONFUSED,)
    assert (outcome.reactions, len(outcome.replies)) == (faces, 1 if listened_to else 0)


def test_neither_the_author_nor_another_pays_for_an_onlooker():
    before = earlier(BOB, [0.5])
    mine = replace(REJECTED, author=BOB)
    assert len(decided("/feedback-help", known=mine, role="read", replies=before).replies) == 1
    assert len(decided("/feedback-help", ALICE, role="read", replies=before).replies) == 1


def test_a_bot_that_asks_too_often_sees_not_even_a_face():
    mine = replace(REJECTED, author=RIO)
    assert decided("/feedback-help", RIO, known=mine, replies=earlier(RIO, [0.5])) == CommandOutcome(mine)


def test_what_is_answered_in_the_same_turn_counts_too():
    said = (PostReply(REPOSITORY, 212, "comment:80/0", "x", BOB.id, at_minute(6), "x"),)
    assert decided("/feedback-help", role="read", new_replies=said) == CommandOutcome(REJECTED, (CONFUSED,))
    same = (replace(said[0], key="comment:81/1"),)
    assert len(decided("/feedback-help", role="read", new_replies=same).replies) == 1


def test_forgetting_is_not_put_off_by_the_question_before_it_and_begins_no_count_anew():
    stored = StoredCounts(commands=1)
    outcome = decided("/feedback-forget confirm", role="read", stored=stored, replies=earlier(BOB, [0.5]))
    (answer,) = outcome.replies
    told = (PostedReply("comment:80/0", answer.topic, answer.account_id, at_minute(5.5)),)
    assert (len(outcome.store_commands), answer.account_id) == (1, 0)
    for again in ("/feedback-forget confirm", "/feedback-help"):
        assert decided(again, role="read", stored=stored, replies=told) == CommandOutcome(
            REJECTED, (CONFUSED,)
        )


def test_several_commands_of_one_comment_get_one_answer():
    outcome = CommandOutcome(REJECTED)
    body = "/feedback-help\n/feedback-explain date_errors\n/feedback-export"
    seen = CommentEvent("created", REPOSITORY, 212, 81, BOB, BOB, body, at_minute(5), at_minute(5), "")
    apart = []
    for one in find_invocations([seen]):
        read = CommandFacts(ME, at_minute(6), role="read", new_replies=outcome.replies)
        done = decide_command(one, REJECTED, read, RULES, SITE)
        apart += done.replies
        outcome = done.after(outcome)
    (answer,) = outcome.replies
    assert (answer.key, answer.account_id) == (KEY, BOB.id)
    assert answer.body == "\n\n---\n\n".join(one.body.rstrip() for one in apart) + "\n"
    before = (PostedReply(KEY, answer.topic, BOB.id, at_minute(6)),)
    assert decided("/feedback-help", replies=before) == CommandOutcome(REJECTED)


@pytest.mark.parametrize(
    ("older", "newer", "anew"),
    [
        (["a:A()"], ["a:A()"], True),
        (["a:A()"], ["b:B(1, 2)", "a:A()"], True),
        (["a:A()", "b:B(1, 2)"], ["a:A()"], False),
        (["a:A()"], ["b:B(1, 2)"], False),
    ],
)
def test_an_answer_is_said_anew_by_one_that_answers_all_of_it(older, newer, anew):
    assert is_superseded(join_topics(older), join_topics(newer)) is anew


def test_answers_that_do_not_fit_into_one_comment_stay_apart():
    long = [
        PostReply(REPOSITORY, 212, f"comment:81/{n}", "x", BOB.id, at_minute(6), "x" * 40_000)
        for n in range(2)
    ]
    assert join_replies(long) == tuple(long)


def test_everybody_reads_what_is_public_and_nobody_else_what_is_private():
    hidden = replace(REJECTED, repository=replace(REPOSITORY, private=True))
    public, private = (decided("/feedback-help", known=known, role=None) for known in (REJECTED, hidden))
    assert ([effect.face for effect in public.reactions], [effect.face for effect in private.reactions]) == (
        [ReactionKind.EYES],
        [ReactionKind.CONFUSED],
    )


def test_forgetting_without_confirm_forgets_nothing():
    stored = StoredCounts(pull_requests=2)
    outcome = decided("/feedback-forget", stored=stored)
    assert (outcome.store_commands, outcome.replies[0].body) == ((), forget_text("bob", stored))


def test_forgetting_with_confirm_forgets_the_giver():
    outcome = decided("/feedback-forget confirm", stored=StoredCounts(pull_requests=2))
    assert outcome.store_commands == (ForgetPerson(REPOSITORY.id, BOB.id, "bob", at_minute(6), KEY),)


APPEAL = Ruling(
    RulingAction.APPEAL, "date_errors", RIO.id, "rio", at_minute(3), HEADS[0], "it is", "comment:70/0"
)


@pytest.mark.parametrize(
    ("body", "known", "answer"),
    [
        (
            "/feedback-reject near_duplicate reason: it is there already",
            REJECTED,
            (
                "Rejected `1111111` for `near_duplicate`: `it is there already`. "
                "3 issues open: `date_errors`, `scope_error` and `near_duplicate`.\n"
            ),
        ),
        (
            "/feedback-reject date_errors",
            replace(REJECTED, rulings=(APPEAL,)),
            (
                "Rejected `1111111` for `date_errors`. The appeal of `rio` against `date_errors` is refused. "
                "2 issues open: `date_errors` and `scope_error`.\n"
            ),
        ),
        (
            "/feedback-reject date_error",
            REJECTED,
            (
                "Rejected `1111111` for `date_error`. No gate has the tag `date_error`, so it is only a warning. "
                "Did you mean `date_errors`? 3 issues open: `date_errors`, `scope_error` and `date_error`.\n"
            ),
        ),
    ],
    ids=["a verdict", "an appeal refused", "a tag that no gate has"],
)
def test_rejecting_is_answered_with_what_it_does(body, known, answer):
    outcome = decided(body, known=known)
    assert (outcome.reactions, [each.body for each in outcome.replies]) == ((EYES,), [answer])


def test_rejecting_for_one_tag_does_not_bring_back_another_that_was_dismissed():
    gone = Ruling(
        RulingAction.DISMISS,
        "date_errors",
        BOB.id,
        "bob",
        at_minute(2),
        HEADS[0],
        "it is right",
        "comment:71/0",
    )
    outcome = decided("/feedback-reject near_duplicate", ALICE, replace(REJECTED, rulings=(gone,)))
    assert open_names(outcome.pull_request) == ("scope_error", "near_duplicate")


def test_a_bot_may_appeal_against_a_finding_once():
    line = "/feedback-appeal date_errors reason: the source says so"
    first = decided(line, RIO)
    (ruling,) = first.pull_request.rulings
    assert (ruling.act, ruling.by) == (RulingAction.APPEAL, RIO.login)
    again = decided(line, RIO, first.pull_request)
    assert (again.pull_request.rulings, "has already been appealed" in again.replies[0].body) == (
        (ruling,),
        True,
    )
