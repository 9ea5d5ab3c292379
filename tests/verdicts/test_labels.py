"""What does a label say, and when is it taken back?"""

from dataclasses import replace
from itertools import permutations

import pytest

from bot.pull_request.events import LabelEvent
from bot.pull_request.model import Item, Stance
from bot.verdicts.signals import MAX_LABELS_KEPT, as_signal
from tests.builders import ALICE, BOB, ME, RIO, RULES, at_minute, make_pull_request, make_snapshot
from tests.verdicts.signal_builders import verdicts_from


def label(name="gate:date_errors", action="labeled", minutes=5, sender=ALICE) -> LabelEvent:
    return LabelEvent(
        action, make_snapshot(updated_at=at_minute(minutes)), name, sender, "https://github.com/p/1"
    )


def test_a_label_is_a_verdict_of_whoever_put_it_there():
    (verdict,) = verdicts_from(label())
    assert (verdict.id, verdict.validator.name, verdict.permission, verdict.counted) == (
        "label:date_errors",
        "alice",
        "write",
        True,
    )
    assert verdict.items == (Item("date_errors", url="https://github.com/p/1"),)


def test_a_label_whose_removal_is_told_first_does_not_stand():
    (alone,) = verdicts_from(label(action="unlabeled", minutes=9))
    assert (alone.stance, alone.items, alone.counted) == (Stance.SILENT, (), False)
    (late,) = verdicts_from(label(minutes=5), known=make_pull_request(verdicts=(alone,)))
    assert (late.stance, late.at, late.lifted_at) == (Stance.REJECTS, at_minute(5), at_minute(9))


@pytest.mark.parametrize("remover", [ALICE, BOB])
def test_a_label_is_put_on_and_taken_off_by_time_in_whatever_order_it_is_told(remover):
    events = (
        label(minutes=1),
        label(action="unlabeled", minutes=2),
        label(minutes=3),
        label(action="unlabeled", minutes=4, sender=remover),
        label(minutes=5),
    )
    in_order = verdicts_from(*events)
    stands = [(v.at, v.lifted_at, v.unlabelled_by) for v in in_order if v.stance is Stance.REJECTS]
    second = (at_minute(4), "") if remover is ALICE else (None, "bob")
    assert stands == [
        (at_minute(1), at_minute(2), ""),
        (at_minute(3), *second),
        (at_minute(5), None, ""),
    ]
    for shuffled in permutations(events):
        assert set(verdicts_from(*shuffled)) == set(in_order)


def test_a_label_that_somebody_else_puts_back_still_is_its_validators():
    events = (
        label(minutes=1),
        label(action="unlabeled", minutes=2, sender=BOB),
        label(minutes=3, sender=BOB),
    )
    for shuffled in permutations(events):
        (stands,) = [v for v in verdicts_from(*shuffled) if v.id == "label:date_errors"]
        assert (stands.validator.name, stands.lifted_at, stands.unlabelled_by) == ("alice", None, "")
    for shuffled in permutations((*events, label(action="unlabeled", minutes=4))):
        counted = [v for v in verdicts_from(*shuffled) if v.counted]
        assert [(v.id, v.lifted_at) for v in counted] == [("label:date_errors", at_minute(4))]


def test_label_events_of_one_second_count_as_they_arrive():
    events = (
        label(),
        label(action="unlabeled", sender=RIO),
        label(),
        label(action="unlabeled"),
    )
    verdicts = ()
    stands = []
    for event in events:
        verdicts = verdicts_from(event, known=make_pull_request(verdicts=verdicts))
        stands.append([v.lifted_at is None for v in verdicts if v.id == "label:date_errors"])
    assert stands == [[True], [True], [True], [False]]


def test_a_repeated_label_event_changes_nothing():
    events = label(), label(action="unlabeled", minutes=6), label(minutes=7)
    known = make_pull_request(verdicts=(*verdicts_from(*events), *verdicts_from(label("gate:scope_error"))))
    for event in events:
        assert verdicts_from(event, known=known) == known.verdicts


def test_a_label_taken_off_is_lifted_and_put_on_again_stands_again():
    first = verdicts_from(label())
    off = verdicts_from(
        label(action="unlabeled", minutes=6), known=replace(make_pull_request(), verdicts=first)
    )
    assert [verdict.lifted_at for verdict in off] == [at_minute(6)]
    again = verdicts_from(label(minutes=7), known=replace(make_pull_request(), verdicts=off))
    assert {(verdict.lifted_at, verdict.at) for verdict in again} == {
        (at_minute(6), at_minute(5)),
        (None, at_minute(7)),
    }
    late = verdicts_from(
        label(action="unlabeled", minutes=6), known=replace(make_pull_request(), verdicts=again)
    )
    assert late == again


def test_a_label_that_is_put_on_and_taken_off_without_end_keeps_only_the_last_times():
    verdicts = ()
    for minute in range(0, 10 * MAX_LABELS_KEPT, 2):
        steps = label(minutes=minute), label(action="unlabeled", minutes=minute + 1)
        verdicts = verdicts_from(*steps, known=make_pull_request(verdicts=verdicts))
    assert len(verdicts) == MAX_LABELS_KEPT + 1
    assert max(verdict.at for verdict in verdicts) == at_minute(10 * MAX_LABELS_KEPT - 2)


@pytest.mark.parametrize("name", ["bug", "gate:", "gate:single", "gate: not a tag!", "gates:date_errors"])
def test_other_labels_say_nothing(name):
    assert as_signal(label(name), make_pull_request(), RULES, ME) is None


@pytest.mark.parametrize("name", ["gate:date_errors", "Gate:Date-Errors", "gate: date errors"])
def test_a_label_is_read_in_any_case(name):
    assert [item.tag for item in verdicts_from(label(name))[0].items] == ["date_errors"]


@pytest.mark.parametrize(("sender", "role"), [(BOB, "triage"), (BOB, None), (RIO, "admin")])
def test_a_label_of_no_validator_is_recorded_and_not_counted(sender, role):
    (verdict,) = verdicts_from(label(sender=sender), roles={sender.id: role})
    assert (verdict.counted, verdict.permission) == (False, role)
