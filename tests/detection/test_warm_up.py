"""The first text of a process costs what any other does: everything its words need was worked out before."""

import re

import pytest

from bot.detection.automaton import LazyAutomaton
from bot.detection.detector import detect
from bot.detection.load import load_detection, load_shipped_detection
from bot.detection.rules import LearnedWeights
from bot.gates.packs import rules_directory


@pytest.fixture
def worked_out(monkeypatch):
    """Count what is worked out anew, by the name of what does it."""
    counted = []
    for owner, name in ((LazyAutomaton, "begin"), (LearnedWeights, "_look")):
        original = getattr(owner, name)

        def count(self, asked, original=original, name=name):
            counted.append((name, asked))
            return original(self, asked)

        monkeypatch.setattr(owner, name, count)
    return counted


def text_of_all_phrases(rules):
    phrases = [phrase for cue in rules.cues for phrase in cue.phrases]
    listed = [word for words in rules.lists.values() for word in words]
    return ". ".join((*(" ".join(re.findall("[a-z]+", phrase)) for phrase in phrases), *listed))


def test_no_word_of_a_phrase_is_met_for_the_first_time_in_a_text(worked_out):
    rules = load_shipped_detection()
    worked_out.clear()

    detect(text_of_all_phrases(rules), rules)

    assert worked_out == []


def test_without_the_rehearsal_the_first_text_would_pay_for_all_of_them(worked_out):
    rules = load_detection(rules_directory())
    worked_out.clear()

    detect(text_of_all_phrases(rules), rules)

    assert len(worked_out) > 1000


def test_what_was_rehearsed_changes_no_answer(rules):
    unrehearsed = load_detection(rules_directory())
    examples = [cue.example for cue in rules.cues] + [structure.example for structure in rules.structures]

    assert [detect(text, rules) for text in examples] == [detect(text, unrehearsed) for text in examples]
