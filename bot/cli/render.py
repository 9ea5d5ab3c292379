"""`whetstone render`: render the rejection comment for tags."""

from __future__ import annotations

import argparse
import sys

from bot.cli import UsageError
from bot.cli.common import load_pack_or_file
from bot.feedback.model import find_failed_gates
from bot.feedback.render import render_tags
from bot.gates.model import is_tag
from bot.pull_request.model import Item, Stance, Validator, Verdict
from bot.resources import new_id, utc_now
from bot.turn.rule_book import default_rules


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("tags", metavar="TAG", nargs="+", help="a validator's code, such as date_errors")
    parser.add_argument("--pack", metavar="P", help="a pack file, or the name of a pack in rules/")
    parser.add_argument("--source", metavar="S", default="validator", help="the reviewer to name")


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    if invalid := [tag for tag in arguments.tags if not is_tag(tag)]:
        raise UsageError(
            f"{invalid[0]!r} is not a tag: use two or more words joined by _, such as date_errors"
        )
    gates = load_pack_or_file(arguments.pack) if arguments.pack else default_rules().gates
    now, identity = utc_now(), new_id()
    tags = tuple(dict.fromkeys(arguments.tags))
    validator = Validator("cli", arguments.source)
    verdict = Verdict("cli", validator, Stance.REJECTS, now, None, tuple(Item(tag) for tag in tags))
    failed = find_failed_gates((verdict,), gates)
    sys.stdout.write(render_tags(failed, tags, arguments.source, now, identity))
