"""Which concrete parts make up a running Whetstone? The only package that names them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.wiring.basics import (
    READY_WITHIN,
    CannotStart,
    NoStoreYet,
    app_desk,
    configure_log,
    database_url,
    github_of,
    new_id,
    now,
    reconcile_line,
    served_at,
    settings,
    site,
    store_line,
    store_of,
    web_address,
    without_credentials,
)
from bot.wiring.operations import (
    backfill,
    bundle,
    everybodys_patterns,
    examine,
    examine_store,
    history_of,
    job,
    reconciliation,
    retry_parked,
    tell_week,
    thread,
    week_by_hand,
    week_so_far,
)
from bot.wiring.process import Instance, events_read, loop_limits, reconcile_schedule, rehearse, running
from bot.wiring.rule_parts import (
    DefaultRules,
    check_rule_file,
    default_rules,
    detection_rules,
    kept_rules,
    lint_feedback,
    live_rule_book,
    pack,
    sarif_log,
)
from bot.wiring.setting_up import new_guests, setting_up, trying_routes

if TYPE_CHECKING:
    # Commands name these in their types; loading them would cost every command its start.
    from bot.adapters.web.setup.guests import Guests
    from bot.engine.pulse import Pace
    from bot.engine.reconcile import ReconcileSchedule
    from bot.engine.watchdog import Limits

__all__ = [
    "READY_WITHIN",
    "CannotStart",
    "DefaultRules",
    "Guests",
    "Instance",
    "Limits",
    "NoStoreYet",
    "Pace",
    "ReconcileSchedule",
    "app_desk",
    "backfill",
    "bundle",
    "check_rule_file",
    "configure_log",
    "database_url",
    "default_rules",
    "detection_rules",
    "events_read",
    "everybodys_patterns",
    "examine",
    "examine_store",
    "github_of",
    "history_of",
    "job",
    "kept_rules",
    "lint_feedback",
    "live_rule_book",
    "loop_limits",
    "new_guests",
    "new_id",
    "now",
    "pack",
    "reconcile_line",
    "reconcile_schedule",
    "reconciliation",
    "rehearse",
    "retry_parked",
    "running",
    "sarif_log",
    "served_at",
    "setting_up",
    "settings",
    "site",
    "store_line",
    "store_of",
    "tell_week",
    "thread",
    "trying_routes",
    "web_address",
    "week_by_hand",
    "week_so_far",
    "without_credentials",
]
