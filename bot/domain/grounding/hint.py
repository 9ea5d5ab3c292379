"""What is the reviewer told about feedback that can't be acted on or checked?"""

from __future__ import annotations

from collections.abc import Sequence

from bot.domain import quality
from bot.domain.choices import Tell
from bot.domain.escape import code_span
from bot.domain.model import Stance, Verdict
from bot.domain.rules import Rules


def hint_to_reviewers(verdicts: Sequence[Verdict], rules: Rules) -> str:
    """One line for those whom the config lets be told, what to write instead; or nothing."""
    told = []
    for verdict in verdicts:
        found = quality.wording("\n".join(item.words for item in verdict.items))
        if (
            found
            and verdict.stance is Stance.REJECTS
            and not verdict.validator.check
            and _is_told(verdict, rules)
        ):
            told.append(f"To {code_span(verdict.validator.name)}: {quality.hint(found)}.")
    return " ".join(told[:3])


def _is_told(verdict: Verdict, rules: Rules) -> bool:
    match rules.quality.tell:
        case Tell.OFF:
            return False
        case Tell.ALL:
            return True
        case Tell.AGENTS:
            return rules.authors.is_agent(verdict.validator.name, bot=verdict.validator.bot)
