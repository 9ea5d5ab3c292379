"""Which webhook payloads has GitHub published as samples?

`webhook_samples.json.gz` holds the samples of the npm package `@octokit/webhooks-examples` 7.6.1 (MIT,
by the Octokit contributors), unchanged but for their order: one object an event, compact.
Usage: python tests/judges/samples.py index.json
where the file is `api.github.com/index.json` of that package.
"""

from __future__ import annotations

import gzip
import json
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

STORED = Path(__file__).with_name("webhook_samples.json.gz")


@dataclass(frozen=True, slots=True)
class Sample:
    """One published payload and the event it belongs to."""

    event: str
    payload: dict[str, Any]


@cache
def samples() -> list[Sample]:
    """Every published sample, in the order of the event's name."""
    by_event = json.loads(gzip.decompress(STORED.read_bytes()))
    return [Sample(event, payload) for event, payloads in by_event.items() for payload in payloads]


def store(index: Path) -> None:
    """Keep the samples of the package's index file, compressed, without the prose around them."""
    events = json.loads(index.read_text(encoding="utf-8"))
    by_event = {each["name"]: each["examples"] for each in sorted(events, key=lambda each: each["name"])}
    text = json.dumps(by_event, separators=(",", ":"), ensure_ascii=False)
    STORED.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    store(Path(sys.argv[1]))
