"""Problems in a rule file, each with its line and column."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RuleFileProblem:
    """What is wrong at one position of a rule file, and what is allowed there."""

    file: str
    line: int
    column: int
    what: str
    allowed: str

    def __str__(self) -> str:
        """Format it as one line that editors and CI can jump to."""
        return f"{self.file}:{self.line}:{self.column}: {self.what}; {self.allowed}"


class RuleFileError(Exception):
    """A rule file that can't be used, with all its problems."""

    def __init__(self, problems: tuple[RuleFileProblem, ...]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems
