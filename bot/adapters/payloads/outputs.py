"""What is kept of what a check printed: both ends of it, and no secret?"""

from __future__ import annotations

from bot.adapters.log import PRIVATE_KEY, Redaction
from bot.domain import regex

MOST = 2_000
"""Characters that are kept of a title, a summary, a text, and of an annotation."""
LEFT_OUT = "\n…\n"

_redacted = Redaction()


def kept(*parts: str) -> str:
    """The parts, each with the beginning and the end of a long one, in whole lines or at least words."""
    return "\n".join(_redacted(_ends(PRIVATE_KEY.sub("", part))) for part in parts if part.strip())


def _ends(text: str) -> str:
    """Cut before secrets are looked for: that may take long in a text made for it.

    No word is cut, for half a secret is not known as one. Only a key has lines, and blanks.
    """
    if len(text) <= MOST:
        return text
    half = (MOST - len(LEFT_OUT)) // 2
    first, last = text[:half], text[-half:]
    first = first.rpartition("\n")[0] or _LAST_WORD.sub("", first)
    return f"{first}{LEFT_OUT}{last.partition(chr(10))[2] or _FIRST_WORD.sub('', last)}"


_LAST_WORD = regex.Pattern(r"\S*\z")
_FIRST_WORD = regex.Pattern(r"\A\S*\s*")
