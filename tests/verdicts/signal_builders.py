"""Verdicts from signals, under a config that names an App and two checks."""

from dataclasses import replace

from bot.gates.config import AnnotationRule, CheckRule, DetectionConfig, ValidatorRules
from bot.pull_request.facts import Facts
from bot.values import Account
from bot.verdicts.signals import merge_signals
from tests.builders import ALICE, ME, RULES, make_pull_request

LEO = Account(44, "leo[bot]", bot=True)
MAPPED = replace(
    RULES,
    detection=DetectionConfig(),
    validators=ValidatorRules(
        apps=("leo",),
        checks=(
            CheckRule("validate", ("date_errors",), (AnnotationRule("wiki link", "broken_wiki_links"),)),
            CheckRule("/^test/", ("body_too_thin", "scope_error")),
        ),
    ),
)


def verdicts_from(*spoken, known=None, rules=MAPPED, roles=None, annotations=None):
    read = Facts(ME, signals=spoken, roles=roles or {ALICE.id: "write"}, annotations=annotations or {})
    return merge_signals(known or make_pull_request(), read, rules).verdicts
