"""When do words that name a fault state it, and when do they deny it, ask for it, suppose it or say it is over?"""

from __future__ import annotations

import pytest

from bot.detection.context import find_doubt
from bot.gates.model import phrase_spans

PHRASES = ("wrong date", "wrong dates", "date is wrong")
STATED = (
    "The date is wrong.",
    "Wrong date?",
    "There is a wrong date, please fix it.",
    "I noticed the date is wrong.",
    "I can see a wrong date.",
    "I missed the wrong date last time.",
    "It looks as if the date is wrong.",
    "If you look at line 3, there is a wrong date.",
    "Is this line 3. There is a wrong date.",
    "Sorry for the late review: there is a wrong date.",
    "The wrong date I reported last week is still there.",
    "Why is there a wrong date in line 3?",
    "Not good\nwrong date in the header",
    "Doesn't work\nwrong date in a.md",
    "The lint is fixed now: wrong date in a.md",
    "Conflict resolved, wrong date in a.md.",
)
ASKED_TO_REPAIR = (
    "can you fix the wrong date?",
    "Can you please fix the wrong date?",
    "Could we fix the wrong date?",
    "Is it possible to fix the wrong date?",
    "How about fixing the wrong date?",
    "What about the wrong date?",
    "Please also fix the wrong date.",
    "Rebase and fix the wrong date.",
    "You should fix the wrong date.",
    "We need to fix the wrong date.",
    "You have to remove wrong dates.",
    "Consider fixing the wrong date.",
    "Get the wrong date fixed.",
    "The wrong date needs to be fixed.",
    "The wrong date needs fixing.",
    "The wrong date must be fixed before I merge this.",
    "I will not merge this until the wrong date is fixed.",
    "Once the wrong date is fixed, I approve.",
    "I'll approve when the wrong date is fixed.",
    "It would be great if you could fix the wrong date.",
    "It would be nice if the wrong date was fixed.",
)
NOT_REPAIRED = (
    "The wrong date was not fixed.",
    "The wrong date has not been fixed yet.",
    "The wrong date was never fixed.",
    "Was the wrong date fixed?",
    "You did not fix the wrong date.",
    "You still haven't fixed the wrong date.",
    "I don't think the wrong date was fixed.",
    "You said the wrong date was fixed, but it is not.",
    "You fixed the wrong date in a.md, but not in b.md.",
    "You fixed the wrong date everywhere except in b.md.",
)
SOMETHING_ELSE_IS_REPAIRED = (
    "You fixed the title but not the wrong date.",
    "Thanks for fixing the title, but there is a wrong date.",
    "Thanks for the quick answer, but the date is wrong.",
    "The links are fixed, the date is wrong.",
    "The date is wrong, everything else is resolved.",
    "There is a wrong date in the file you fixed.",
    "There is a wrong date, let me know when you fixed it.",
    "The title is fixed\nThe date is wrong",
)
SOMETHING_ELSE_IS_DENIED = (
    "No, the date is wrong.",
    "No tests\r\nWrong date",
    "No tests and wrong dates.",
    "Not good: wrong date.",
    "Not only a wrong date, but also a typo.",
    "This is not ready because the date is wrong.",
    "I can't accept a wrong date.",
    "I can't merge this with a wrong date.",
    "Nothing but a wrong date keeps me from approving.",
)
NEGATED = (
    "There is no wrong date here.",
    "There is\nno wrong date.",
    "There is no longer a wrong date.",
    "I do not see any wrong date here.",
    "I don't think there is a wrong date.",
    "It's a typo, not a wrong date.",
)
ASKED = (
    "Is this a wrong date?",
    "Hmm, could this be a wrong date?",
    "The title is fine, but is this a wrong date?",
    "Are there wrong dates in the other pages?",
    "What happens with a wrong date?",
)
SUPPOSED = (
    "If the date is wrong, tell me.",
    "Tell me if the date is wrong.",
    "Unless the date is wrong, this is fine.",
    "Please check whether the date is wrong.",
    "This might be a wrong date.",
)
OVER = (
    "The wrong date was fixed.",
    "The wrong date has been fixed, but the title is too short.",
    "The wrong date in the header of a.md was fixed.",
    "The wrong date and the broken link were fixed.",
    "The wrong date is gone.",
    "The wrong date is no longer there.",
    "The wrong date isn't there any more.",
    "Thanks for fixing the wrong date.",
    "This fixes the wrong date but breaks the build.",
    "You have resolved the issue with the wrong date.",
    "Fixed: wrong date.",
    "- Wrong date in line 3: fixed",
    "Fixed: wrong date in the header.",
)


def doubts(text, rules):
    return [find_doubt(text, start, end, rules) for start, end in phrase_spans(PHRASES, text)]


@pytest.mark.parametrize(
    ("note", "texts"),
    [
        ("", STATED),
        ("", ASKED_TO_REPAIR),
        ("", NOT_REPAIRED),
        ("", SOMETHING_ELSE_IS_REPAIRED),
        ("", SOMETHING_ELSE_IS_DENIED),
        ("negated", NEGATED),
        ("question", ASKED),
        ("hypothetical", SUPPOSED),
        ("settled", OVER),
    ],
    ids=[
        *("stated", "asked to repair", "not repaired", "something else is repaired", "something else denied"),
        *("negated", "asked", "supposed", "over"),
    ],
)
def test_a_sentence_states_a_fault_or_says_why_it_does_not(note, texts, rules):
    assert {text: doubts(text, rules) for text in texts} == {text: [note] for text in texts}


def test_of_two_faults_in_a_sentence_each_is_judged_by_its_own_words(rules):
    text = (
        "The wrong date in a.md was fixed, but in b.md the date is wrong, and is there a wrong date in c.md?"
    )
    assert doubts(text.replace("?", "."), rules) == ["settled", "", ""]
    assert doubts(text, rules)[2] == "question"


def test_words_in_other_letters_are_taken_as_stated(rules):
    text = "Тут неверная дата."
    assert [find_doubt(text, start, end, rules) for start, end in phrase_spans(("неверная дата",), text)] == [
        ""
    ]
