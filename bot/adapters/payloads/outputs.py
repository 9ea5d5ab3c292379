"""What is kept of what a check printed: both ends of it, and no secret?"""

from __future__ import annotations

from bot.adapters.log import PRIVATE_KEY, Redaction

MOST = 2_000
"""Characters that are kept of a summary, and of a text."""
LEFT_OUT = "\n…\n"

_redacted = Redaction()


def kept(*parts: str) -> str:
    """The parts, each with the beginning and the end of a long one, in whole lines where it has any."""
    return "\n".join(_redacted(_ends(PRIVATE_KEY.sub("", part))) for part in parts if part.strip())


def _ends(text: str) -> str:
    """Cut before secrets are looked for: that may take long in a text made for it. Only a key has lines."""
    if len(text) <= MOST:
        return text
    half = (MOST - len(LEFT_OUT)) // 2
    first, last = text[:half], text[-half:]
    first = first[: first.rfind("\n") if "\n" in first else half]
    return f"{first}{LEFT_OUT}{last[last.find(chr(10)) + 1 :]}"
