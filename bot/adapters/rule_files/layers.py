"""Rules with one config laid over them: a key that the config has wins, a list is replaced as a whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any

from bot.domain.choices import CheckKind, ClaimType
from bot.domain.rules import (
    AnnotationRule,
    CheckRule,
    Cue,
    Detection,
    Grounding,
    Rules,
    SarifRule,
    Validators,
)

Values = dict[str, Any]  # a mapping of a config that its schema has passed


def laid_over(rules: Rules, config: Values) -> Rules:
    """The rules with every section of the config except its gates, which need the packs."""
    own: dict[str, Callable[[Any, Values], Any]] = {
        "validators": _validators,
        "grounding": _grounding,
        "detection": _detection,
    }
    changed = {
        name: own[name](getattr(rules, name), values) if name in own else _over(getattr(rules, name), values)
        for name, values in config.items()
        if name != "gates"
    }
    return replace(rules, **changed)


def _over(old: Any, new: Any) -> Any:
    """The new value in the old one's type; of a section, field by field."""
    if is_dataclass(old) and not isinstance(old, type):
        return replace(old, **{key: _over(getattr(old, key), value) for key, value in new.items()})
    if isinstance(old, tuple):
        return tuple(new)
    return type(old)(new) if isinstance(old, (Enum, int, float)) else new


def _validators(old: Validators, new: Values) -> Validators:
    simple = {key: value for key, value in new.items() if key not in ("checks", "sarif")}
    checks = {rule.name: rule for rule in old.checks}
    checks |= {name: _check(name, said) for name, said in new.get("checks", {}).items()}
    sarif = {rule.rule: rule for rule in old.sarif}
    sarif |= {rule: SarifRule(rule, tag) for rule, tag in new.get("sarif", {}).items()}
    made: Validators = _over(old, simple)
    return replace(made, checks=tuple(checks.values()), sarif=tuple(sarif.values()))


def _check(name: str, said: Any) -> CheckRule:
    if isinstance(said, list):
        return CheckRule(name, tuple(said))
    return CheckRule(
        name,
        tuple(said.get("tags", ())),
        tuple(AnnotationRule(phrase, tag) for phrase, tag in said.get("annotations", {}).items()),
        CheckKind(said["kind"]) if "kind" in said else None,
    )


def _detection(old: Detection, new: Values) -> Detection:
    cues = tuple(Cue(**cue) for cue in new.get("cues", ())) if "cues" in new else old.cues
    simple = {key: value for key, value in new.items() if key != "cues"}
    made: Detection = _over(old, simple)
    return replace(made, cues=cues)


def _grounding(old: Grounding, new: Values) -> Grounding:
    protocol = new.get("verification_protocol", {})
    nested = (new, *protocol.values())
    known = {field.name for field in fields(Grounding)}
    simple = {key: value for part in nested for key, value in part.items() if key in known}
    return _claims(_over(old, simple), new.get("grounding_rules", {}))


def _claims(old: Grounding, new: Values) -> Grounding:
    """Put each kind of claim where the config names it, and take it from where it was."""
    named = {ClaimType(claim) for claims in new.values() for claim in claims}

    def listed(key: str, before: tuple[ClaimType, ...]) -> tuple[ClaimType, ...]:
        if key in new:
            return tuple(map(ClaimType, new[key]))
        return tuple(claim for claim in before if claim not in named)

    return replace(
        old,
        mandatory=listed("mandatory_grounding", old.mandatory),
        recommended=listed("recommended_grounding", old.recommended),
        not_required=listed("grounding_not_required", old.not_required),
    )
