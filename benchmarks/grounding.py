"""How many of the claims in the tests' table are typed and judged right?"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from bot.gates.config import GroundingRules
from bot.grounding.claims import find_claims
from bot.grounding.model import Requirement, claim_requirement
from bot.grounding.verify import verify_claim
from tests.grounding.claim_table import TABLE
from tests.grounding.small_repository import make_observations


def main() -> None:
    """Print precision and recall of types and outcomes, and every wrong `verified`."""
    observed, rules = make_observations(), GroundingRules()
    pairs = []
    started = time.perf_counter()
    for row in TABLE:
        claim = next(iter(find_claims(row.text)), None)
        kind = claim.type.value if claim else None
        needed = claim is not None and claim_requirement(claim.type, rules) is not Requirement.NOT_REQUIRED
        outcome = verify_claim(claim, observed).outcome.value if claim and needed else None
        pairs.append((row, kind, outcome))
    seconds = time.perf_counter() - started
    print(f"{len(TABLE)} claims in {seconds * 1000:.0f} ms")
    _print("type", Counter((row.type, kind) for row, kind, _ in pairs))
    _print("outcome", Counter((row.outcome, outcome) for row, _, outcome in pairs))
    wrong = [row.text for row, _, outcome in pairs if outcome == "verified" != row.outcome]
    print(f"wrongly verified: {len(wrong)}", *wrong, sep="\n  ")


def _print(name: str, counts: Counter[tuple[str | None, str | None]]) -> None:
    print(f"\n{name:<32} precision  recall  claims")
    for value in sorted({one for pair in counts for one in pair if one}):
        right = counts[value, value]
        given = sum(count for (_, found), count in counts.items() if found == value)
        true = sum(count for (wanted, _), count in counts.items() if wanted == value)
        precision, recall = right / given if given else 0, right / true if true else 0
        print(f"{value:<32} {precision:>9.3f} {recall:>7.3f} {true:>7}")


if __name__ == "__main__":
    main()
