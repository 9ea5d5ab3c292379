"""What do test runners, compilers and linters say about the first failure?"""

import pytest

from bot.gates.packs import load_rules
from bot.values import Location
from bot.verdicts import failures
from bot.verdicts.failures import MAX_LOG, CheckFailure, read_failure, tail_of_log

OUTPUTS = {
    "pytest": (
        (
            "=================================== FAILURES ===================================\n"
            "__________________________________ test_login __________________________________\n"
            "\n"
            "    def test_login():\n"
            '>       assert login("a") == 2\n'
            "E       assert 3 == 2\n"
            "E        +  where 3 = login('a')\n"
            "\n"
            "tests/test_a.py:12: AssertionError\n"
            "=========================== short test summary info ============================\n"
            "FAILED tests/test_a.py::test_login - assert 3 == 2\n"
            "1 failed, 4 passed in 0.1s\n"
            "##[error]Process completed with exit code 1."
        ),
        CheckFailure("tests/test_a.py::test_login", Location("tests/test_a.py", 12), "assert 3 == 2", "", ""),
    ),
    "jest": (
        (
            "FAIL src/a.test.ts\n"
            "  ● login › returns two\n"
            "\n"
            "    expect(received).toBe(expected) // Object.is equality\n"
            "\n"
            "    Expected: 2\n"
            "    Received: 3\n"
            "\n"
            "      at Object.<anonymous> (src/a.test.ts:12:5)"
        ),
        CheckFailure("login › returns two", Location("src/a.test.ts", 12), "", "2", "3"),
    ),
    "vitest": (
        (
            " FAIL  src/a.test.ts > login > returns two\n"
            "AssertionError: expected 3 to be 2 // Object.is equality\n"
            " ❯ src/a.test.ts:12:5"
        ),
        CheckFailure(
            "login > returns two",
            Location("src/a.test.ts", 12),
            "AssertionError: expected 3 to be 2 // Object.is equality",
            "2",
            "3",
        ),
    ),
    "go": (
        "--- FAIL: TestLogin (0.00s)\n    login_test.go:12: got 3, want 2\nFAIL",
        CheckFailure("TestLogin", Location("login_test.go", 12), "got 3, want 2", "2", "3"),
    ),
    "testify": (
        (
            "--- FAIL: TestLogin (0.00s)\n"
            "    login_test.go:12: \n"
            "        \tError Trace:\t/home/runner/work/k/k/pkg/login_test.go:12\n"
            "        \tError:      \tNot equal: \n"
            "        \t            \texpected: 2\n"
            "        \t            \tactual  : 3\n"
            "        \tTest:       \tTestLogin"
        ),
        CheckFailure("TestLogin", Location("pkg/login_test.go", 12), "", "2", "3"),
    ),
    "cargo": (
        (
            "running 1 test\n"
            "test tests::login ... FAILED\n"
            "\n"
            "---- tests::login stdout ----\n"
            "thread 'tests::login' panicked at src/lib.rs:12:5:\n"
            "assertion `left == right` failed\n"
            "  left: 3\n"
            " right: 2"
        ),
        CheckFailure("tests::login", Location("src/lib.rs", 12), "assertion `left == right` failed", "", ""),
    ),
    "maven": (
        "[ERROR] Failures: \n[ERROR]   LoginTest.testLogin:42 expected: <2> but was: <3>",
        CheckFailure("LoginTest.testLogin", None, "expected: <2> but was: <3>", "2", "3"),
    ),
    "gradle": (
        (
            "LoginTest > testLogin() FAILED\n"
            "    org.opentest4j.AssertionFailedError: expected: <2> but was: <3>\n"
            "        at app//LoginTest.testLogin(LoginTest.java:42)"
        ),
        CheckFailure(
            "LoginTest > testLogin()",
            None,
            "org.opentest4j.AssertionFailedError: expected: <2> but was: <3>",
            "2",
            "3",
        ),
    ),
    "mocha": (
        (
            "  1) login\n"
            "       returns two:\n"
            "     AssertionError: expected 3 to equal 2\n"
            "      at Context.<anonymous> (test/a.js:12:5)"
        ),
        CheckFailure(
            "login returns two", Location("test/a.js", 12), "AssertionError: expected 3 to equal 2", "2", "3"
        ),
    ),
    "rspec": (
        (
            "  1) Login works\n"
            "     Failure/Error: expect(login).to eq(2)\n"
            "\n"
            "       expected: 2\n"
            "            got: 3\n"
            "     # ./spec/a_spec.rb:13:in `block'\n"
            "\n"
            "rspec ./spec/a_spec.rb:12 # Login works"
        ),
        CheckFailure("Login works", Location("spec/a_spec.rb", 13), "expect(login).to eq(2)", "2", "3"),
    ),
    "tsc": (
        "src/a.ts(12,5): error TS2322: Type 'string' is not assignable to type 'number'.",
        CheckFailure(
            "", Location("src/a.ts", 12), "TS2322: Type 'string' is not assignable to type 'number'.", "", ""
        ),
    ),
    "tsc2": (
        "src/a.ts:12:5 - error TS2322: Type 'string' is not assignable.",
        CheckFailure("", Location("src/a.ts", 12), "TS2322: Type 'string' is not assignable.", "", ""),
    ),
    "gcc": (
        "src/a.c:12:5: error: expected ';' before 'return'",
        CheckFailure("", Location("src/a.c", 12), "expected ';' before 'return'", "", ""),
    ),
    "rustc": (
        "error[E0308]: mismatched types\n --> src/main.rs:12:5\n  |",
        CheckFailure("", Location("src/main.rs", 12), "error[E0308]: mismatched types", "", ""),
    ),
    "eslint": (
        "/home/runner/work/k/k/src/a.js\n  12:5  error  'x' is not defined  no-undef\n\n✖ 1 problem",
        CheckFailure("", Location("src/a.js", 12), "'x' is not defined no-undef", "", ""),
    ),
    "ruff": (
        "src/a.py:12:5: F401 `os` imported but unused",
        CheckFailure("", Location("src/a.py", 12), "F401 `os` imported but unused", "", ""),
    ),
    "ruff2": (
        "F401 [*] `os` imported but unused\n --> src/a.py:12:5",
        CheckFailure("", Location("src/a.py", 12), "F401 [*] `os` imported but unused", "", ""),
    ),
    "mypy": (
        "src/a.py:12: error: Incompatible return value type  [return-value]\nFound 1 error in 1 file",
        CheckFailure("", Location("src/a.py", 12), "Incompatible return value type [return-value]", "", ""),
    ),
    "trace": (
        (
            "Traceback (most recent call last):\n"
            '  File "/home/runner/work/k/k/src/a.py", line 4, in main\n'
            "    f()\n"
            '  File "/usr/lib/python3.11/json/x.py", line 9, in g\n'
            "KeyError: 'user'"
        ),
        CheckFailure("", Location("src/a.py", 4), "KeyError: 'user'", "", ""),
    ),
    "unittest": (
        (
            "FAIL: test_login (tests.test_a.LoginTest.test_login)\n"
            "----\n"
            "Traceback (most recent call last):\n"
            '  File "tests/test_a.py", line 12, in test_login\n'
            "AssertionError: 3 != 2"
        ),
        CheckFailure("test_login", Location("tests/test_a.py", 12), "AssertionError: 3 != 2", "", ""),
    ),
    "gobuild": (
        "./main.go:12:5: undefined: foo",
        CheckFailure("", Location("main.go", 12), "undefined: foo", "", ""),
    ),
    "none": ("All good\nexit code 1", None),
    "javac": (
        "src/A.java:12: error: cannot find symbol",
        CheckFailure("", Location("src/A.java", 12), "cannot find symbol", "", ""),
    ),
}
"""Runner → what it prints, and the first failure in it."""


@pytest.mark.parametrize("section", ["tests", "errors", "locations", "comparisons"])
def test_every_pattern_matches_its_example(section):
    examples = [runner["example"] for runner in load_rules("runners")[section]]
    tried = zip(examples, failures._patterns(section), strict=True)
    anywhere = section == "comparisons"
    assert [line for line, one in tried if not (one.search(line) if anywhere else one.match(line))] == []


@pytest.mark.parametrize("runner", OUTPUTS)
def test_the_first_failure_of_a_runner_is_read(runner):
    output, failure = OUTPUTS[runner]
    assert read_failure(output) == failure


@pytest.mark.parametrize("runner", OUTPUTS)
def test_the_same_is_read_from_a_log_with_times_and_colours(runner):
    output, failure = OUTPUTS[runner]
    lines = (f"2026-11-15T10:00:00.1234567Z \x1b[31m{line}\x1b[0m" for line in output.split("\n"))
    assert read_failure(tail_of_log("\n".join(lines))) == failure


def test_expected_and_actual_are_named_only_where_the_runner_says_which_is_which():
    assert read_failure("E       assert 3 == 2").comparison == ""
    assert read_failure("    login_test.go:12: got 3, want 2").comparison == "expected 2, got 3"


def test_a_failure_is_summed_up_in_one_line():
    assert CheckFailure("test_a", error="boom").summary == "test_a: boom"
    assert (
        CheckFailure("test_a", error="boom", expected="2", actual="3").summary == "test_a: expected 2, got 3"
    )
    assert CheckFailure(error="boom").summary == "boom"


def test_of_a_long_log_the_last_64_kb_are_read_in_whole_lines():
    log = f"FAILED tests/test_a.py::test_first - boom\n{'x' * 100}\n" + "fine\n" * MAX_LOG
    tail = tail_of_log(log)
    assert len(tail) <= MAX_LOG
    assert set(tail.split("\n")) == {"fine"}
    assert read_failure(log) is None


def test_secrets_do_not_leave_the_log():
    log = "E   ValueError: ghp_abcdefghijklmnop1234 is wrong\n-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\n"
    tail = tail_of_log(log)
    assert "ghp_" not in tail
    assert "abc\n" not in tail
    assert read_failure(tail).error == "ValueError: [hidden] is wrong"
