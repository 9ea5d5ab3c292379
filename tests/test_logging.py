import io
import json
import logging

import pytest

from bot.logging import FEEDBACK_LOGGER, configure_logging


@pytest.fixture
def written():
    """Configures logging into a text, and puts everything back afterwards."""
    names = ("whetstone", FEEDBACK_LOGGER)
    root = logging.getLogger()
    before = (root.handlers[:], root.level, [logging.getLogger(name).level for name in names])
    raises = logging.raiseExceptions
    root.handlers.clear()
    stream = io.StringIO()

    def start(form, level="INFO", secrets=()):
        configure_logging(level, form, secrets, stream)
        return stream

    yield start
    root.handlers[:], root.level, levels = before
    logging.raiseExceptions = raises
    for name, level in zip(names, levels, strict=True):
        logging.getLogger(name).setLevel(level)


def fail(log, message):
    error = RuntimeError(message)
    log.error("failed: %s", message, exc_info=error)


def test_a_line_for_people(written):
    stream = written("console")
    logging.getLogger("whetstone.web").info("kept %s", "it", extra={"delivery": "d-1"})
    time, rest = stream.getvalue().split(" ", 1)
    assert time.endswith("+00:00")
    assert rest == "INFO    whetstone.web: kept it delivery=d-1\n"


def test_feedback_has_a_structured_logger_of_its_own(written):
    # row 192
    stream = written("json")
    logging.getLogger("pipeline.feedback").info("posted", extra={"pull_request": "octo/notes#3", "issues": 2})
    line = json.loads(stream.getvalue())
    del line["time"]
    assert line == {
        "level": "info",
        "logger": "pipeline.feedback",
        "message": "posted",
        "pull_request": "octo/notes#3",
        "issues": 2,
    }


def test_a_fact_does_not_replace_what_every_line_has(written):
    stream = written("json")
    logging.getLogger("whetstone").info("kept", extra={"time": "never", "level": "high"})
    line = json.loads(stream.getvalue())
    assert (line["level"], line["time"] != "never") == ("info", True)


@pytest.mark.parametrize(("level", "lines"), [("DEBUG", 2), ("INFO", 1), ("ERROR", 0)])
def test_ours_are_written_from_the_level_on(written, level, lines):
    stream = written("console", level)
    logging.getLogger("whetstone.a").debug("x")
    logging.getLogger("pipeline.feedback").info("y")
    assert len(stream.getvalue().splitlines()) == lines


def test_libraries_are_written_from_warnings_on(written):
    stream = written("console", "DEBUG")
    logging.getLogger("aiohttp").info("x")
    logging.getLogger("aiohttp").warning("y")
    assert len(stream.getvalue().splitlines()) == 1


PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIhush\nhush\n-----END RSA PRIVATE KEY-----"
LEAKS = {
    "installation token": "got ghs_hush123 back",
    "long installation token": "got ghs_" + "hush" * 200 + " back",
    "installation token with dots": "got ghs_hush.hush-hush_hush back",
    "personal token": "got ghp_hush123 back",
    "user token": "got ghu_hush123 back",
    "fine-grained token": "got github_pat_11A_hush123 back",
    "key": f"got {PEM} back",
    "key cut off": f"got {PEM[:45]}",
    "JWT": "got eyJhush.eyJhush.hush-_hush back",
    "password of an address": "got postgresql://u:hush@db/w back",
    "our webhook secret": "got hush-hush back",
    "signature": "got sha256=" + "a" * 56 + "deadbeef back",
}


@pytest.mark.parametrize("form", ["console", "json"])
@pytest.mark.parametrize("leak", LEAKS.values(), ids=LEAKS.keys())
def test_no_secret_is_written(written, form, leak):
    stream = written(form, secrets=["hush-hush"])
    log = logging.getLogger("whetstone")
    log.info("said %s", leak, extra={"fact": leak})
    fail(log, leak)
    text = stream.getvalue()
    assert "got " in text
    assert [word for word in ("hush", "deadbeef") if word in text] == []


def test_an_exception_is_written_with_its_trace(written):
    stream = written("json")
    fail(logging.getLogger("whetstone"), "inside")
    assert json.loads(stream.getvalue())["exception"].endswith("RuntimeError: inside")


@pytest.mark.parametrize("form", ["console", "json"])
def test_text_of_others_makes_no_second_line(written, form):
    stream = written(form)
    logging.getLogger("whetstone").info("title %s", "a\nINFO forged\x1b[31m", extra={"b": "c\nd"})
    assert len(stream.getvalue().splitlines()) == 1
    assert "\x1b" not in stream.getvalue()


@pytest.mark.parametrize("form", ["console", "json"])
def test_half_a_character_keeps_no_line_from_being_written(written, form, capsys):
    stream = written(form)
    logging.getLogger("whetstone").info("said %s", "\ud800 ghs_hush", extra={"fact": "\udfff"})
    fail(logging.getLogger("whetstone"), "\ud800 ghs_hush")
    text = stream.getvalue()
    assert text.encode().count(b"[hidden]") == 3
    assert (r"\ud800" in text, "hush" in text, capsys.readouterr().err) == (True, False, "")


@pytest.mark.parametrize("form", ["console", "json"])
def test_a_line_that_can_not_be_made_shows_no_secret_elsewhere(written, form, capsys):
    stream = written(form)
    logging.getLogger("whetstone").info("said %d", "ghs_hush")
    assert (stream.getvalue(), capsys.readouterr().err) == ("", "")


FORGED = "2026-11-15T12:00:00.000+00:00 INFO    whetstone: forged"


@pytest.mark.parametrize("end", ["\n", "\r", "\x85", "\u2028", "\u2029", "\x1b[2K\n"])
def test_an_exceptions_text_makes_no_line_of_its_own(written, end):
    stream = written("console")
    fail(logging.getLogger("whetstone"), f"one{end}{FORGED}")
    first, *trace = stream.getvalue().splitlines()
    assert first.endswith(FORGED)
    assert [line for line in trace if not line.startswith("  ")] == []
    assert "\x1b" not in stream.getvalue()


def test_controls_of_the_terminal_are_spelt_out(written):
    stream = written("console")
    logging.getLogger("whetstone").info("a%sb", "\x9b31m\x7f")
    assert stream.getvalue().endswith(r"a\x9b31m\x7fb" + "\n")


def test_a_very_short_secret_hides_no_ordinary_words(written):
    stream = written("console", secrets=["a"])
    logging.getLogger("whetstone").info("kept apart")
    assert stream.getvalue().endswith("kept apart\n")
