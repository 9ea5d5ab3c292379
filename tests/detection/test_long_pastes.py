"""What a reviewer says behind a long paste is read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.detection.detector import detect
from bot.detection.evidence import _BREAKS, _breaks_at_most, gather_evidence, readable_part
from bot.detection.load import shipped_detection_rules
from bot.detection.rules import FeedbackType

YAML = "".join(f"{' ' * 16}key{number}: value\n" for number in range(60))
TABS = "".join(f"\t\tline {number}\n" for number in range(40))
JSON = "".join(f'{{"a": [[{number}], ["<b>", "`c`"]], "d": [1]}}\n' for number in range(60))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (f"With this:\n```yaml\n{YAML}```\nThe tests fail, and the build is broken.", "verification_failure"),
        (
            f"It writes\n```json\n{JSON}```\nbut the tests fail, and the build is broken.",
            "verification_failure",
        ),
        (f"It writes\n~~~\n{JSON}```\n~~~\nand then it crashes with KeyError in parse().", "runtime_error"),
        (f"{TABS}\nIt crashes with KeyError in parse().", "runtime_error"),
    ],
)
def test_words_behind_what_was_pasted_are_heard(text, kind):
    assert detect(text, shipped_detection_rules()).type is FeedbackType(kind)


@pytest.mark.parametrize("fence", ["```", "~~~~"])
def test_what_a_program_printed_is_seen_behind_a_long_paste_in_the_same_fence(fence):
    trace = 'Traceback (most recent call last):\n  File "a.py", line 1, in b\nKeyError: 3\n'
    found = detect(f"{fence}\n{JSON}{trace}{fence}", shipped_detection_rules())
    assert (found.type, found.signals[0]) == (FeedbackType.RUNTIME_ERROR, "stack trace present")


def test_words_behind_a_long_column_of_numbers_are_heard():
    text = "12.5\n" * 500 + "\nThe tests fail, and the build is broken."
    assert detect(text, shipped_detection_rules()).type is FeedbackType.VERIFICATION_FAILURE


@pytest.mark.parametrize(
    "said", ["{words}\n\n{broken}", "{broken}\n\n{words}", "{broken}```\n{json}```\n{words}"]
)
def test_words_at_either_end_of_what_is_broken_up_without_end_are_heard(said):
    words = "The tests fail, and the build is broken."
    text = said.format(words=words, broken="key: [a](b), <c>\n" * 300, json=JSON)
    assert detect(text, shipped_detection_rules()).type is FeedbackType.VERIFICATION_FAILURE


@pytest.mark.parametrize("fence", ["```json", "~~~~"])
def test_a_cut_never_leaves_half_a_fence_that_swallows_the_words_behind_it(fence):
    rules = shipped_detection_rules()
    words = "The tests fail, and the build is broken."
    before = "key: [a](b), <c>\n" * 300 + f"{fence}\n" + JSON + fence.removesuffix("json") + "\n"
    unheard = [
        many for many in range(200, 280) if not detect(f"{before}{'x, ' * many}\n\n{words}", rules).type
    ]
    assert unheard == []


@pytest.mark.parametrize("piece", ["&lt;", "x; ", "if ?_", "a.B ", "oh… ", "`a` ", "- b\n", "go – ", "so — "])
def test_what_stands_in_the_middle_of_what_is_broken_up_without_end_is_left_out(piece):
    text = f"First. {piece * 1000} MIDDLE {piece * 1000} Last."
    heard = {
        word
        for sentence in gather_evidence(text, shipped_detection_rules()).sentences
        for word in sentence.words
    }
    assert heard & {"first", "middle", "last"} == {"first", "last"}


@pytest.mark.parametrize("indent", ["", "  "])
def test_a_fence_in_a_list_sets_nothing_apart_since_it_ends_with_the_list(indent):
    text = f"- a\n\n{indent}```\n" + "- b, c\n" * 500 + f"{indent}```\nwords"
    assert (readable_part(text) == text) == (indent == "")


def test_of_signs_without_a_blank_only_some_are_read():
    heard = gather_evidence("a*" * 500, shipped_detection_rules()).sentences
    assert 0 < sum(len(sentence.words) for sentence in heard) < 200


def test_a_link_breaks_a_text_up_more_than_its_brackets():
    text = f"[a](b) {'x' * 40}" * 80
    assert len(readable_part(text)) < len(text)
    assert readable_part(text.replace("](", "] (")) == text.replace("](", "] (")


@given(st.text("`[]<>~\t\n(,!?:;.…。 -*+wW/ax\u3000\ud800", max_size=300))
def test_the_quick_count_of_breaks_is_never_too_low(text):
    assert _breaks_at_most(text) >= sum(map(text.count, _BREAKS))
