"""Measure the average sentence length of the documents: python -m tests.docs.readability"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
LONGEST_AVERAGE = 20
"""Words per sentence that a page may have on average."""
_FENCE = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')*]*\s+(?=[\"'(*`\[]*[A-Z0-9`])")


def pages() -> list[Path]:
    """Every page of prose but the decision records, which stay as they were written."""
    docs = (page for page in (ROOT / "docs").rglob("*.md") if page.parent.name != "adr")
    return sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *docs])


def sentences(markdown: str) -> Iterator[str]:
    """The sentences of a page: paragraphs and list items; a code span counts as one word."""
    text = re.sub(r"<!--.*?-->", "", _FENCE.sub("", markdown), flags=re.DOTALL)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"``?[^`\n]+``?", "code", text))
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.|#|\|) )", text):
        if block.lstrip().startswith(("|", "#")):
            continue
        for sentence in _SENTENCE_END.split(" ".join(block.split())):
            if len(sentence.split()) > 2:
                yield sentence


def average(markdown: str) -> float:
    """The average number of words per sentence."""
    lengths = [len(re.findall(r"[\w'’]+", sentence)) for sentence in sentences(markdown)]
    return sum(lengths) / len(lengths) if lengths else 0.0


if __name__ == "__main__":
    for page in pages():
        markdown = page.read_text(encoding="utf-8")
        longest = max(sentences(markdown), key=lambda sentence: len(sentence.split()), default="")
        print(f"{average(markdown):5.1f}  {page.relative_to(ROOT)}  (longest: {len(longest.split())})")  # noqa: T201
