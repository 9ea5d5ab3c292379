"""The phrases of documents 000 and 002 that reviewers are asked not to write."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.gates.packs import load_rules
from bot.verdicts.quality import Wording, WordingMatch, find_wording

WORDING = load_rules("wording")


def said(text, *kinds):
    return [(phrase.kind.value, phrase.words) for phrase in find_wording(text, *kinds)]


@pytest.mark.parametrize(
    "phrase",
    ["could be better", "needs improvement", "consider changing", "might want to", "should probably"],
)  # row 46
def test_the_vague_phrases_of_the_document_are_found_in_an_issue(phrase):
    assert said(f"The parser {phrase} here", Wording.VAGUE) == [("vague", phrase)]


@pytest.mark.parametrize("phrase", ["think about", "consider", "maybe", "perhaps", "you might"])  # row 48
def test_the_advisory_phrases_of_the_document_are_found_in_a_suggestion(phrase):
    assert said(f"So {phrase} the parser", Wording.ADVISORY) == [("advisory", phrase)]


def test_no_other_vague_or_advisory_phrase_is_forbidden():  # rows 46, 48
    assert (len(WORDING["vague"]), len(WORDING["advisory"])) == (5, 5)


@pytest.mark.parametrize(
    ("claim", "words", "mitigation", "rewrite"),
    [  # rows 135 to 138, 140, 141
        (
            "The file probably contains a secret",
            "probably contains",
            "always Read before claiming content",
            "The file contains [X] (Read src/file.ts:42)",
        ),
        (
            "This should work because the lock is held",
            "should work because",
            "run tests to verify behavior",
            "The test passes (npm test output: 'PASS')",
        ),
        (
            "The error is likely in the parser",
            "error is likely",
            "check actual error messages",
            "The error message is [X] (observed in output)",
        ),
        (
            "I assume the config has a default",
            "I assume the config",
            "read config files directly",
            "Config value is [X] (Read config.yml)",
        ),
        (
            "Based on typical patterns it returns None",
            "Based on typical patterns",
            "always Read before claiming content",
            "The file contains [X] (Read src/file.ts:42)",
        ),
    ],
)
def test_a_claim_that_nobody_looked_up_is_found_with_its_rewrite(claim, words, mitigation, rewrite):
    start = claim.index(words)
    assert find_wording(claim) == (
        WordingMatch(
            Wording.UNGROUNDED, words, start, start + len(words), f"write “{rewrite}”; {mitigation}"
        ),
    )


def test_every_claim_pattern_is_heard_as_the_document_gives_it():  # row 140
    heard = [said(one["claim"].removesuffix("..."), Wording.UNGROUNDED) for one in WORDING["ungrounded"]]
    assert [len(found) for found in heard] == [1, 1, 1, 1, 1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The error’s most likely here", "error's most likely"),
        ("The error's likely here", "error's likely"),
        ("I’m assuming that your configuration is read", "I'm assuming that your configuration"),
        ("I'd assume the config is read", "I'd assume the config"),
        ("It should just work, because it is typed", "should just work, because"),
        ("PROBABLY CONTAINS a key", "PROBABLY CONTAINS"),
    ],
)
def test_case_and_either_apostrophe_make_no_difference(text, words):
    assert said(text) == [("ungrounded", words)]


@pytest.mark.parametrize(
    "text",
    [
        "A considerable amount, considered and reconsidered",
        "`maybe` stays as it is",
        "```\nmaybe\n```",
        "> perhaps we should wait\n\nNo.",
        "[consider this](https://example.org/maybe)",
        "See https://example.org/maybe/consider",
        "The label says “consider changing” in bold",
        'The label says "maybe later" in bold',
        "The label says 'you might' in bold",
        "Rename maybe_none and is_maybe",
        "Return Maybe<T> or maybe(x)",
        "Move src/maybe/consider.py and maybe.ts",
        "Mark it as maybe-null",
        "naïvemaybe and maybeñ",
        "<!-- maybe -->",
        "",
    ],
)
def test_code_quotes_links_and_longer_names_are_left_alone(text):
    assert said(text) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("could\n be **better**", "could be better"),
        ("_Maybe_ it is", "Maybe"),
        ("It is fine... perhaps...", "perhaps"),
        ("…maybe…", "maybe"),
        ("It's slow, don't you think? Maybe it's the lock", "Maybe"),
        ("half a \ud800 pair, maybe", "maybe"),
    ],
)
def test_emphasis_line_breaks_and_punctuation_hide_nothing(text, words):
    assert [found for _, found in said(text)] == [words]


def test_of_two_phrases_that_overlap_the_first_is_told():
    assert said("You might want to consider changing it") == [
        ("advisory", "You might"),
        ("vague", "consider changing"),
    ]


@given(st.text(), st.sampled_from([*WORDING["vague"], *WORDING["advisory"]]), st.text())
def test_the_offsets_are_those_of_the_text_as_given(before, phrase, after):
    text = f"{before} {phrase} {after}"
    for found in find_wording(text):
        assert found.words.split()[0].lower() in text[found.start : found.end].lower()


@given(st.text(st.sampled_from("may be_*'\"“”`> \nconsider"), max_size=300))
def test_any_text_can_be_read(text):
    found = find_wording(text)
    assert all(first.end <= second.start for first, second in itertools.pairwise(found))
