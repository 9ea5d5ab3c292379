import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.settings import DotenvFile, parse_dotenv


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("A=1", {"A": "1"}),
        ("A = 1 ", {"A": "1"}),
        ("export A=1", {"A": "1"}),
        ("# note\n\n  # note\nA=1\n", {"A": "1"}),
        ("A=1 # note", {"A": "1"}),
        ("A=a#b", {"A": "a#b"}),
        ("A=two words", {"A": "two words"}),
        ("A=it's", {"A": "it's"}),
        ("A=", {"A": ""}),
        ("A=\nB=2", {"A": "", "B": "2"}),
        ("A=# note", {"A": ""}),
        ("A='x # y' # note", {"A": "x # y"}),
        ("A='$x \\n'", {"A": "$x \\n"}),
        ('A="one\\ntwo \\"q\\" \\d \\$"', {"A": 'one\ntwo "q" \\d $'}),
        ('A="one\ntwo"\nB=2', {"A": "one\ntwo", "B": "2"}),
        ("A='one\ntwo'", {"A": "one\ntwo"}),
        ("A=1\r\nB=2\r\n", {"A": "1", "B": "2"}),
        ("A=a=b", {"A": "a=b"}),
        ("", {}),
    ],
)
def test_what_a_line_sets(text, values):
    assert parse_dotenv(text) == DotenvFile(values)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("nonsense", ".env:1: expected NAME=value"),
        ("\n\n1A=x", ".env:3: expected NAME=value"),
        ("A-B=x", ".env:1: expected NAME=value"),
        ('A="x', ".env:1: the value of A has an opening quote without a closing one"),
        ("A='x", ".env:1: the value of A has an opening quote without a closing one"),
        ('A="x" y', ".env:1: unexpected text after the value of A"),
        ("A=1\nA=2", ".env:2: A is set twice; keep one"),
    ],
)
def test_what_a_line_gets_wrong(text, problem):
    assert parse_dotenv(text).problems == (problem,)


def test_the_lines_after_a_mistake_are_still_read():
    assert parse_dotenv("nonsense\nB=2") == DotenvFile({"B": "2"}, (".env:1: expected NAME=value",))


@given(
    st.dictionaries(st.from_regex(r"[A-Z_]{1,8}", fullmatch=True), st.text().filter(lambda t: "\r" not in t))
)
def test_any_value_survives_in_double_quotes(values):
    lines = ['{}="{}"'.format(k, v.replace("\\", "\\\\").replace('"', '\\"')) for k, v in values.items()]
    assert parse_dotenv("\n".join(lines)) == DotenvFile(values)


@given(st.text(alphabet="A=\"' #\n\\\tx$"))
def test_no_text_breaks_the_reader(text):
    found = parse_dotenv(text)
    assert all(problem.startswith(".env:") for problem in found.problems)
