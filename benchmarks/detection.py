"""How fast the detector loads and reads, how much memory it takes, and what the worst texts cost."""

from __future__ import annotations

import random
import re
import subprocess
import sys
import time
from itertools import product
from pathlib import Path

from bot.detection.detector import detect
from bot.detection.load import MODEL_FILE, load_detection, shipped_detection_rules
from bot.detection.rules import DetectionRules
from bot.gates.packs import rules_directory

SENTENCES = Path(__file__).parent.parent / "tests" / "detection" / "sentences"
PASSES, TRIES, MIXES = 9, 5, 100
"""Other load only ever adds to the time, so the best of several passes is the detector's own."""
PIECES = (
    *(
        "`",
        "[",
        "<!--",
        "i do not think ",
        "error: ",
        "a.b.",
        "tests fail ",
        "(",
        "> ",
        "- ",
        "_)",
        "x-",
        "\r",
    ),
    *('File "a", line ', "`a` ", "    a\n", "[a](b) ", "this is wrong\n- ", "no no, \n\n", "a.B ", "\n"),
)
AROUND = ("{}", "```\n{}\n```", "> {}")
LENGTHS = (1024, 65_536)
_LOAD = """
import time
import psutil
from bot.detection import detector, load
from bot.gates.packs import load_packs, rules_directory
load_packs(rules_directory())  # what a process has anyway: the readers of YAML and of schemas
process = psutil.Process()
before, start = process.memory_info().rss, time.process_time()
rules = load.shipped_detection_rules()
seconds = time.process_time() - start
detector.detect("The tests fail on Windows.", rules)
print(seconds * 1000, (process.memory_info().rss - before) / 1024 / 1024)
"""


def main() -> None:
    """Print a line for each figure."""
    rules = shipped_detection_rules()
    size = (rules_directory() / MODEL_FILE).stat().st_size
    print(f"model {size / 1024:.0f} KB, {len(rules.model.weights):,} features (aim: at most 300 KB)")
    loads = [_measure_load() for _ in range(TRIES)]
    print(f"load {min(ms for ms, _ in loads):.0f} ms, {min(mb for _, mb in loads):.1f} MB (aim: 60 ms, 8 MB)")
    texts = [
        line.replace("\\n", "\n")
        for path in sorted(SENTENCES.glob("*.txt"))
        for line in path.read_text("utf-8").splitlines()
    ]
    random.Random(1).shuffle(texts)
    first = len(texts) / _seconds(texts, load_detection(rules_directory()))
    best = len(texts) / min(_seconds(texts, rules) for _ in range(PASSES))
    print(f"speed {best:,.0f} comments a second, {first:,.0f} at first reading (aim: at least 5,000)")
    _print_worst(rules)


def _measure_load() -> tuple[float, float]:
    """Return the milliseconds and megabytes that a fresh process needs for the rules."""
    output = subprocess.run([sys.executable, "-c", _LOAD], check=True, capture_output=True, text=True).stdout
    milliseconds, megabytes = output.split()
    return float(milliseconds), float(megabytes)


def _print_worst(rules: DetectionRules) -> None:
    """Print the cost of texts made to hurt, and of texts made of the cues' own words."""
    dearest = 0.0
    for piece, around, length in product(PIECES, AROUND, LENGTHS):
        text = around.format((piece * length)[:length])
        dearest = max(dearest, min(_seconds([text], rules) for _ in range(TRIES)) / len(text) * 1024 * 1000)
    print(f"worst text {dearest:.2f} ms a kilobyte (aim: at most 1)")
    phrases = (phrase for cue in rules.cues for phrase in cue.phrases)
    words = sorted({word for phrase in phrases for word in re.findall("[a-z]+", phrase)})
    chance = random.Random(1)
    texts = [" ".join(chance.choices(words, k=4096))[:4096] for _ in range(MIXES)]
    most = max(_seconds([text], rules) / 4 * 1000 for text in texts)
    print(f"texts of the cues' own words {most:.2f} ms a kilobyte")


def _seconds(texts: list[str], rules: DetectionRules) -> float:
    start = time.process_time()
    for text in texts:
        detect(text, rules)
    return time.process_time() - start
