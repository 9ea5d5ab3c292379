"""The README says about speed what was measured."""

import re
from pathlib import Path

from benchmarks.compare import GROWTH, README, RESULTS, SUMMARY_START


def paragraph(path: Path) -> str:
    """The paragraph about speed, on one line."""
    text = path.read_text(encoding="utf-8")
    start = text.index(SUMMARY_START)
    return " ".join(text[start : text.index("\n\n", start)].split())


def test_the_readme_repeats_the_results():
    assert paragraph(README) == paragraph(RESULTS).replace("(RESULTS.md)", "(benchmarks/RESULTS.md)")


def test_the_results_hold_the_ratios_of_the_readme():
    rows = [
        line.split(" | ")
        for line in RESULTS.read_text(encoding="utf-8").partition(GROWTH)[0].splitlines()
        if line.startswith("| ")
    ]
    column = rows[0].index("ratio to Probot")
    ratios = [f"{float(row[column].split(' ')[0]):.1f} ×" for row in rows[1:]]
    claimed = re.findall(r"[\d.]+ ×", paragraph(README))
    assert len(claimed) == 5
    assert set(claimed) <= set(ratios)
