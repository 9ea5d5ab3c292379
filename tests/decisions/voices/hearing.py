"""What the voices of a test amount to, under a config that names an App and two checks."""

from dataclasses import replace

from bot.adapters.detection_rules import shipped
from bot.decisions.voices import with_voices
from bot.domain.facts import Facts
from bot.domain.model import Account
from bot.domain.rules import AnnotationRule, CheckRule, Validators
from tests.builders import ALICE, ME, RULES, pull_request

LEO = Account(44, "leo[bot]", bot=True)
MAPPED = replace(
    RULES,
    understanding=shipped(),
    validators=Validators(
        apps=("leo",),
        checks=(
            CheckRule("validate", ("date_errors",), (AnnotationRule("wiki link", "broken_wiki_links"),)),
            CheckRule("/^test/", ("body_too_thin", "scope_error")),
        ),
    ),
)


def heard(*spoken, known=None, rules=MAPPED, roles=None, annotations=None):
    read = Facts(ME, spoken=spoken, roles=roles or {ALICE.id: "write"}, annotations=annotations or {})
    return with_voices(known or pull_request(), read, rules).verdicts
