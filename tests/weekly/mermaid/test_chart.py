"""Does Mermaid itself read the weekly chart?"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import playwright
import pytest

from bot.history.model import Week
from bot.history.patterns import Tally
from bot.weekly.text import render_chart

HERE = Path(__file__).parent
NODE = Path(playwright.__file__).parent / "driver" / "node"  # the one that Playwright brings along


def parsed(text: str) -> subprocess.CompletedProcess[str]:
    command = [NODE, HERE / "parse.cjs", HERE / "mermaid.min.js.gz"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False, timeout=60)  # noqa: S603  our own


@pytest.mark.parametrize("judged", [0, 3, 31, 12_345])
def test_mermaid_reads_the_chart_with_its_size_and_colours(judged):
    weeks = tuple((Week(2026, number), Tally(judged, judged // 2, 0)) for number in range(35, 47))
    read = parsed(render_chart(weeks))
    assert (read.stderr, read.returncode) == ("", 0)
    assert json.loads(read.stdout) == {
        "diagramType": "xychart",
        "config": {
            "xyChart": {"width": 820, "height": 260},
            "themeVariables": {"xyChart": {"plotColorPalette": "#cf222e, #0969da"}},
        },
    }


def test_mermaid_refuses_a_broken_chart():
    assert parsed("xychart-beta\n    bar [1,,2]\n").returncode == 1
