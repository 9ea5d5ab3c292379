"""Which mistakes of the operator end a command with one line?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from bot import wiring
from bot.cli import UsageError
from bot.settings import SettingsError


@contextmanager
def said_in_one_line() -> Iterator[None]:
    """Wrong settings, and a store that can't be opened, are usage errors inside."""
    try:
        yield
    except SettingsError as mistakes:
        raise UsageError("; ".join(mistakes.problems)) from mistakes
    except wiring.CannotStart as reason:
        raise UsageError(str(reason)) from reason
