"""Format log lines for people or machines, and redact secrets."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, TextIO

import msgspec

from bot import regex

ROOT_LOGGER = "whetstone"
FEEDBACK_LOGGER = "pipeline.feedback"
"""The logger that tells of feedback given: what was posted, where, for whom."""

REDACTED = "[hidden]"

_KEY = r"(?s:-----BEGIN[ A-Z]*PRIVATE KEY-----.*?(?:-----END[ A-Z]*PRIVATE KEY-----|\z))"
PRIVATE_KEY = regex.Regex(_KEY)
_SHAPES = (
    r"gh[a-z]_[A-Za-z0-9_.-]+",  # tokens are of any length, so by their prefix
    r"github_pat_[A-Za-z0-9_]+",
    r"\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+",  # a JWT
    _KEY,
    r"(?P<address>://)[^\s/@:]*:[^\s/@]+@",  # user and password
    r"(?P<signature>sha256=)[0-9a-fA-F]{64}",  # with its body, it would be accepted once more
)
_CONTROLS = {number: f"\\x{number:02x}" for number in (*range(32), *range(127, 160))} | {
    9: "\\t",
    10: "\\n",
    13: "\\r",
    0x2028: "\\u2028",
    0x2029: "\\u2029",
}
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_SHORTEST = 4  # a shorter secret would hide ordinary words, and protects nothing


def configure_logging(
    level: str, form: str, secrets: Iterable[str] = (), stream: TextIO | None = None
) -> logging.Handler:
    """Every logger of this process writes to the stream in this form; ours from this level on."""
    formatter = JsonFormatter(secrets) if form == "json" else ConsoleFormatter(secrets)
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(formatter)
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    # Else a line that can't be written goes to standard error as it is, with every secret in it.
    logging.raiseExceptions = False
    for name in (ROOT_LOGGER, FEEDBACK_LOGGER):
        logging.getLogger(name).setLevel(level)
    return handler


class Redaction:
    """Takes out the secrets that were named, and whatever has the shape of one."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        named = sorted({s.strip() for s in secrets if len(s.strip()) >= _SHORTEST}, key=len, reverse=True)
        # One pattern, so that neither kind cuts the other one in two.
        self._secrets = regex.Regex("|".join((*map(regex.escape, named), *_SHAPES)))

    def __call__(self, text: str) -> str:
        """The text without secrets."""
        return self._secrets.sub(_hidden, text)


def _hidden(match: regex.RegexMatch) -> str:
    """Return the replacement of a secret, with the matched text around it."""
    return f"{match['address'] or match['signature'] or ''}{REDACTED}{'@' if match['address'] else ''}"


class _Redacting(logging.Formatter):
    def __init__(self, secrets: Iterable[str] = ()) -> None:
        super().__init__()
        self._redact = Redaction(secrets)


class ConsoleFormatter(_Redacting):
    """One line for people: time, level, logger, message, facts."""

    def format(self, record: logging.LogRecord) -> str:
        """The line; a traceback follows below it."""
        facts = "".join(f" {name}={value}" for name, value in _facts(record).items())
        lines = [
            f"{_time(record)} {record.levelname:<7} {record.name}: {_shown(record.getMessage() + facts)}"
        ]
        if record.exc_info:
            # Before it is cut into lines: a key of several would not be known by its parts.
            trace = self._redact(_encodable(self.formatException(record.exc_info)))
            # An exception's text may come from outside; an indented line can't pass for a log line.
            lines += [f"  {_shown(line)}" for line in trace.split("\n")]
        return self._redact("\n".join(lines))


class JsonFormatter(_Redacting):
    """One JSON object a line for machines."""

    def format(self, record: logging.LogRecord) -> str:
        """The object; facts stand beside the message under their own names."""
        content: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self._clean(record.getMessage()),
        }
        content |= {name: self._clean(value) for name, value in _facts(record).items() if name not in content}
        if record.exc_info:
            content["exception"] = self._clean(self.formatException(record.exc_info))
        return msgspec.json.encode(content).decode()

    def _clean(self, value: object) -> object:
        return value if isinstance(value, bool | int | float | None) else self._redact(_encodable(str(value)))


def _shown(text: str) -> str:
    return _encodable(text).translate(_CONTROLS)


def _encodable(text: str) -> str:
    """The text with half a character, which JSON and files refuse, spelt out."""
    return text.encode("utf-8", "backslashreplace").decode()


def _facts(record: logging.LogRecord) -> Mapping[str, Any]:
    return {name: value for name, value in vars(record).items() if name not in _STANDARD}


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
