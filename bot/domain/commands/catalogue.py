"""Every slash command there is, with who may give it."""

from __future__ import annotations

from bot.domain.choices import Permission
from bot.domain.commands import arguments
from bot.domain.commands.command import Command, Who

ANYONE = Who(Permission.READ)
ANYONE_AND_BOT = Who(Permission.READ, bot_author=True)
OVERRIDES = Who(Permission.WRITE, not_author=True)
APPEALS = Who(Permission.WRITE, author_too=True)

COMMANDS = (
    Command(
        name="history",
        usage="[@login] [30d|24h|…] [tag]",
        example="/feedback-history @rio-agent[bot] 30d date_errors",
        help="Which gates an author breaks, how often, and what fixed them last time.",
        who=ANYONE_AND_BOT,
        parse=arguments.history,
    ),
    Command(
        name="explain",
        usage="TAG",
        example="/feedback-explain date_errors",
        help="What a gate wants, with examples.",
        who=ANYONE_AND_BOT,
        parse=arguments.explain,
    ),
    Command(
        name="appeal",
        usage="TAG reason: …",
        example="/feedback-appeal date_errors reason: the source gives no other date",
        help="Say that a tag is wrong; it is shown at its gate until a maintainer decides.",
        who=APPEALS,
        parse=arguments.appeal,
    ),
    Command(
        name="reject",
        usage="TAG… [path:line] [reason: …]",
        example="/feedback-reject date_errors claims/x.md:5 reason: month 13",
        help="Reject this revision for these tags, or refuse an appeal.",
        who=OVERRIDES,
        parse=arguments.reject,
    ),
    Command(
        name="dismiss",
        usage="TAG reason: …",
        example="/feedback-dismiss date_errors reason: the date is right",
        help="Lift a tag at this revision, or uphold an appeal.",
        who=OVERRIDES,
        parse=arguments.dismiss,
    ),
    Command(
        name="select",
        usage="best|final|N reason: …",
        example="/feedback-select best reason: the last push broke the links",
        help="Say which iteration is the result.",
        who=OVERRIDES,
        parse=arguments.select,
    ),
    Command(
        name="export",
        usage="",
        example="/feedback-export",
        help="Where to get all that is stored about you.",
        who=ANYONE,
        parse=arguments.export,
    ),
    Command(
        name="forget",
        usage="[confirm]",
        example="/feedback-forget confirm",
        help="Delete what is stored about you; without `confirm` only say what would go.",
        who=ANYONE,
        parse=arguments.forget,
    ),
    Command(
        name="help",
        usage="",
        example="/feedback-help",
        help="This list.",
        who=ANYONE_AND_BOT,
        parse=arguments.help_,
    ),
)

_BY_NAME = {command.name: command for command in COMMANDS}


def command_named(name: str) -> Command | None:
    """The command of this name, in any case."""
    return _BY_NAME.get(name.lower())
