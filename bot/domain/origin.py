"""How was something said, by whose account, with which permission then, and in which exact words?"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Origin:
    """Whence an item comes, besides the validator's name and the address where it stands."""

    way: str = "review"
    """By review, inline comment, comment, check, status, label, command or validation."""
    permission: str | None = None
    """The speaker's role then; `config` where the config names who speaks."""
    body_hash: str = ""
    """SHA-256 of the words as they were when they were read."""
    account: str = ""
    """Whose account it came from, where the validator's name is another: the App behind a check."""
    delivery: str = ""
    """What was handed in over HTTP stands nowhere on GitHub: the id that its sender was given."""

    def as_document(self) -> dict[str, object]:
        """What is shown of it: nothing that is not known."""
        told = {
            "way": self.way,
            "account": self.account,
            "permission": self.permission,
            "body_sha256": self.body_hash,
            "delivery": self.delivery,
        }
        return {name: value for name, value in told.items() if value}


def hash_of(*words: str) -> str:
    """The SHA-256 of what somebody said, its parts joined by line ends; whatever characters it holds."""
    return hashlib.sha256("\n".join(words).encode("utf-8", "surrogatepass")).hexdigest()
