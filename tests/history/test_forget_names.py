"""How somebody's name and words are taken from what is counted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.findings.ledger import build_ledger
from bot.history.forget import ForgottenPerson, anonymize, anonymize_acts, anonymize_open
from bot.history.model import build_history_record
from bot.pull_request.model import Conversation, Item, PullRequest, Stance, ThreadState, Validator, Verdict
from bot.values import Location
from tests.builders import ALICE, BOB, HEADS, at_minute, make_pull_request

PLACE = Location("claims/futarchy.md", 5)
HERS = "her words"
TOLD = ("words", "url", "suggestion", "action", "rationale", "evidence", "metric", "reference")
PERSON = ForgottenPerson(ALICE.id, at_minute(9), ALICE.login)
AROUND = ("context_before", "context_after")
SAID = Item("date_errors", place=PLACE, severity="major", **dict.fromkeys((*TOLD, *AROUND), HERS))


def said_by(account, way="review"):
    name = Validator(f"user:{account.id}", account.login)
    return Verdict(f"{way}:{account.id}", name, Stance.REJECTS, at_minute(1), HEADS[0], (SAID,), said=HERS)


@pytest.mark.parametrize("way", ["review", "comment"])
def test_a_verdict_goes_on_standing_without_name_and_words(way):
    known = make_pull_request(verdicts=(said_by(ALICE, way), said_by(BOB)))
    hers, his = anonymize(known, PERSON).verdicts
    assert (hers.stance, hers.validator.name, hers.said) == (Stance.REJECTS, "ghost", "")
    assert hers.items == (Item("date_errors", place=PLACE, severity="major"),)
    assert HERS not in repr(hers)
    assert his == said_by(BOB)


def test_what_is_said_later_keeps_its_name():
    later = replace(said_by(ALICE), at=at_minute(20))
    assert anonymize(make_pull_request(verdicts=(later,)), PERSON).verdicts == (later,)


def reviewed_twice() -> PullRequest:
    """Two remarks in plain words and a thread that its validator, who may not write, resolved; closed since."""
    remarks = (Item(None, "Rename the helper."), Item(None, "Say why.", place=PLACE, comment_id=71))
    verdict = replace(said_by(ALICE), items=(SAID, *remarks))
    resolved = ThreadState(71, resolved=True, at=at_minute(3), by_id=ALICE.id, by=ALICE.login, role="read")
    pull_request = make_pull_request(
        verdicts=(verdict,), conversation=Conversation((resolved,), requests=((ALICE.id, at_minute(2)),))
    )
    return replace(
        pull_request, findings=build_ledger(pull_request).records(), open=False, closed_at=at_minute(5)
    )


def test_a_closed_pull_request_keeps_the_numbers_and_statuses_of_its_findings():
    known = reviewed_twice()
    nameless = anonymize(anonymize_acts(known, PERSON), PERSON)
    before, after = (
        [(finding.id, finding.status.value, finding.item.tag) for finding in build_ledger(each).findings]
        for each in (known, nameless)
    )
    assert before == after == [("f1", "new", "date_errors"), ("f2", "new", None), ("f3", "withdrawn", None)]
    assert not {ALICE.login, HERS, "Rename", str(ALICE.id)} & set(repr(nameless).replace("'", " ").split())
    assert nameless.conversation.requests == ()


def test_an_open_pull_request_names_nobody_who_was_forgotten():
    verdict = replace(said_by(BOB), unlabelled_by=ALICE.login)
    known = replace(reviewed_twice(), open=True)
    known = replace(known, verdicts=(*known.verdicts, verdict))
    nameless = anonymize_open(known, PERSON)
    assert ALICE.login not in repr(nameless)
    names = {change.by for finding in build_ledger(nameless).findings for change in finding.changes}
    assert names == {"ghost", BOB.login}


def test_the_history_keeps_what_became_of_a_forgotten_validators_findings():
    record = build_history_record(reviewed_twice())
    nameless = anonymize(record, PERSON)
    assert f"user:{ALICE.id}" not in repr(nameless)
    assert [finding.status for finding in nameless.findings] == [
        finding.status for finding in record.findings
    ]
    assert len(nameless.rejecting_at(at_minute(9))) == len(record.rejecting_at(at_minute(9))) == 1
