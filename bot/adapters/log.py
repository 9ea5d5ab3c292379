"""How log lines look, and that no secret is in one."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, TextIO

import msgspec

ROOT = "whetstone"
FEEDBACK = "pipeline.feedback"
"""The logger that tells of feedback given: what was posted, where, for whom."""

HIDDEN = "[hidden]"

_SHAPES = r"""
        gh[a-z]_[A-Za-z0-9_.-]+                       # tokens are of any length, so by their prefix
      | github_pat_[A-Za-z0-9_]+
      | \beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+   # a JWT
      | -----BEGIN[ A-Z]*PRIVATE[ ]KEY-----.*?(?:-----END[ A-Z]*PRIVATE[ ]KEY-----|\Z)
      | (?<=://)[^\s/@:]*:[^\s/@]+(?=@)           # user and password of an address
      | (?<=sha256=)[0-9a-fA-F]{64}               # a signature opens the door once more
"""
_CONTROLS = {number: f"\\x{number:02x}" for number in (*range(32), 127)} | {9: "\\t", 10: "\\n", 13: "\\r"}
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_SHORTEST = 4  # a shorter secret would hide ordinary words, and protects nothing


def configure(
    level: str, form: str, secrets: Iterable[str] = (), stream: TextIO | None = None
) -> logging.Handler:
    """Every logger of this process writes to the stream in this form; ours from this level on."""
    formatter = JsonLines(secrets) if form == "json" else Console(secrets)
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(formatter)
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    for name in (ROOT, FEEDBACK):
        logging.getLogger(name).setLevel(level)
    return handler


class Redaction:
    """Takes out the secrets that were named, and whatever has the shape of one."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        named = sorted({s.strip() for s in secrets if len(s.strip()) >= _SHORTEST}, key=len, reverse=True)
        # One pattern, so that neither kind cuts the other one in two.
        either = "|".join((*map(re.escape, named), _SHAPES))
        self._secrets = re.compile(either, re.VERBOSE | re.DOTALL)

    def __call__(self, text: str) -> str:
        """The text without secrets."""
        return self._secrets.sub(HIDDEN, text)


class Console(logging.Formatter):
    """One line for people: time, level, logger, message, facts."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        super().__init__()
        self._redact = Redaction(secrets)

    def format(self, record: logging.LogRecord) -> str:
        """The line; a traceback follows below it."""
        facts = "".join(f" {name}={value}" for name, value in _facts(record).items())
        said = f"{record.getMessage()}{facts}".translate(_CONTROLS)
        line = f"{_time(record)} {record.levelname:<7} {record.name}: {said}"
        if record.exc_info:
            line = f"{line}\n{self.formatException(record.exc_info)}"
        return self._redact(line)


class JsonLines(logging.Formatter):
    """One JSON object a line for machines."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        super().__init__()
        self._redact = Redaction(secrets)

    def format(self, record: logging.LogRecord) -> str:
        """The object; facts stand beside the message under their own names."""
        content: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self._redact(record.getMessage()),
        }
        content |= {name: self._clean(value) for name, value in _facts(record).items() if name not in content}
        if record.exc_info:
            content["exception"] = self._redact(self.formatException(record.exc_info))
        return msgspec.json.encode(content).decode()

    def _clean(self, value: object) -> object:
        return value if isinstance(value, bool | int | float | None) else self._redact(str(value))


def _facts(record: logging.LogRecord) -> Mapping[str, Any]:
    return {name: value for name, value in vars(record).items() if name not in _STANDARD}


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
