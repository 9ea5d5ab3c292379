"""The command line; one module per command."""

from __future__ import annotations

import argparse
import difflib
import gc
import importlib
import os
import sys
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, NoReturn, TextIO

from bot.gates.problems import RuleFileError

_OPTIONS = ("-h", "--help", "--version")


@dataclass(frozen=True, slots=True)
class CliCommand:
    """A command of the command line: its name, help and example.

    Its module adds the arguments and runs it; that is loaded only when the command is named, because loading
    all of them would take longer than most commands run.
    """

    name: str
    help: str
    example: str

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments to a parser."""
        self._module().add_arguments(parser)

    def run(self, arguments: argparse.Namespace) -> int:
        """Run the command, in an event loop if it is a coroutine; returns its exit code."""
        command = self._module()
        gc.enable()
        code: Coroutine[None, None, int | None] | int | None = command.run(arguments)
        if isinstance(code, Coroutine):
            import asyncio  # most of the others need none

            code = asyncio.run(code)
        return code or 0

    def _module(self) -> ModuleType:
        return importlib.import_module(f"{__name__}.{self.name.replace('-', '_')}")


_TEXTS = {
    "Run it": {
        "demo": ("Show the bot at work on a local fake GitHub; no account.", "whetstone demo --once"),
        "serve": (
            "Receive deliveries from GitHub and process them.",
            "GITHUB_APP_ID=1 GITHUB_PRIVATE_KEY_PATH=key.pem GITHUB_WEBHOOK_SECRET=… whetstone serve",
        ),
        "check-config": (
            "Validate a repository's config or a pack of gates.",
            "whetstone check-config .github/whetstone.yml",
        ),
    },
    "For agents": {
        "comment": (
            "Print the feedback on a pull request as JSON, or wait for it.",
            "GH_TOKEN=$(gh auth token) whetstone comment acme/knowledge 212 --login 'whetstone[bot]' --wait",
        ),
        "mcp": (
            "Serve feedback, history and gates to an agent over MCP.",
            "GH_TOKEN=$(gh auth token) WHETSTONE_URL=https://whetstone.example.com whetstone mcp",
        ),
        "preflight": (
            "Check a branch before a push: gates you often break, and fixes.",
            "WHETSTONE_URL=https://whetstone.example GH_TOKEN=$(gh auth token) whetstone preflight",
        ),
        "parse": (
            "Print the marker or the document of a comment as JSON.",
            "gh api repos/acme/knowledge/issues/comments/501 --jq .body | whetstone parse --document",
        ),
    },
    "For validators": {
        "lint-feedback": (
            "Check a feedback document against its schema and rules.",
            "whetstone lint-feedback feedback.yml --format sarif",
        ),
        "lint-comment": (
            "Check whether review comments tell the author what to do.",
            'echo \'{"id": 1, "text": "Why?"}\' | whetstone lint-comment',
        ),
        "render": (
            "Print the rejection comment for one or more tags.",
            "whetstone render date_errors broken_wiki_links --source alice",
        ),
        "detect": (
            "Classify comments: failure, rejection, nearly done or none.",
            'echo \'{"id": 1, "text": "The tests fail on Windows."}\' | whetstone detect',
        ),
    },
    "Reports": {
        "history": (
            "Show which gates an author breaks, how often, and the trend.",
            "whetstone history acme/knowledge 'rio-agent[bot]' --hours 720",
        ),
        "weekly": (
            "Update the weekly summary issue with the current week.",
            "whetstone weekly acme/knowledge --dry-run",
        ),
        "lessons": (
            "Print what reviews keep asking for, as a section for AGENTS.md.",
            "whetstone lessons acme/knowledge --agent 'rio-agent[bot]' >> AGENTS.md",
        ),
        "export": (
            "Write a pull request's scores and selection report to files.",
            "whetstone export acme/knowledge 212 ./export",
        ),
    },
    "Operations": {
        "doctor": (
            "Check settings, GitHub and the store, and suggest fixes.",
            "whetstone doctor acme/knowledge",
        ),
        "backup": (
            "Back up the store to a file, beside a running server.",
            "whetstone backup whetstone-2026-11-15.backup",
        ),
        "restore": (
            "Fill an empty store from a backup; stop the server first.",
            "DATABASE_URL=sqlite:///data/new.db whetstone restore whetstone-2026-11-15.backup",
        ),
        "backfill": (
            "Import earlier pull requests and reviews; nothing is posted.",
            "whetstone backfill acme/knowledge --since 2026-01-01",
        ),
        "reconcile": ("Ask GitHub to redeliver webhooks that failed.", "whetstone reconcile --days 1"),
        "parked": (
            "List deliveries that failed repeatedly, or queue them again.",
            "whetstone parked --retry 72d3162e-cc78-11e3-81ab-4c9367dc0958",
        ),
        "receive": (
            "Dry-run one delivery: print its effects, write nothing.",
            "whetstone receive -e pull_request_review -p review.json",
        ),
    },
}
GROUPS = {
    title: tuple(CliCommand(name, *texts) for name, texts in commands.items())
    for title, commands in _TEXTS.items()
}
"""The commands by group, in the order in which `--help` lists them."""
COMMANDS = {command.name: command for commands in GROUPS.values() for command in commands}
"""Every command by its name; each has a module of this package."""


class UsageError(Exception):
    """The caller's mistake: printed in one line; the command ends with exit code 2."""


class CommandFailed(Exception):
    """GitHub or the store failed: printed in one line; the command ends with exit code 1."""


def run_command_line(argv: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    try:
        return _run(argv)
    except BrokenPipeError:  # the reader of a pipe has seen enough
        sys.stdout = None
        return 0
    except KeyboardInterrupt:
        return 130


def _run(argv: Sequence[str]) -> int:
    name, *rest = argv or ("",)
    if name in _OPTIONS:
        print(_version() if name == "--version" else _overview())
        return 0
    if name not in COMMANDS:
        return _fail("whetstone", _describe_unknown(name), 2)
    command, prog = COMMANDS[name], f"whetstone {name}"
    parser = _Parser(
        prog=prog,
        description=command.help,
        epilog=f"example:\n  {command.example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.arguments(parser)
    try:
        return command.run(parser.parse_args(rest))
    except (UsageError, CommandFailed) as error:
        return _fail(prog, str(error), 2 if isinstance(error, UsageError) else 1)
    except RuleFileError as problems:
        print(problems, file=sys.stderr)
        return 2
    except Exception as error:
        from bot.cli.common import explain_failure

        failure = explain_failure(error)
        if failure is None:
            raise
        return _fail(prog, *failure)


def _version() -> str:
    from importlib.metadata import version  # on demand: loading it takes longer than most commands

    return f"whetstone {version('whetstone-bot')}"


def _overview() -> str:
    """The text of `whetstone --help`: every command with what it does, by group."""
    lines = [
        "Whetstone answers a rejected pull request with what failed, where, and how to fix it.",
        "",
        f"{_coloured(_BOLD, 'Usage:')} whetstone COMMAND [ARGUMENT…]",
    ]
    for title, commands in GROUPS.items():
        lines += ["", _coloured(_BOLD, title)]
        lines += [f"  {_coloured(_CYAN, f'{command.name:<15}')}{command.help}" for command in commands]
    return "\n".join(
        [
            *lines,
            "",
            _coloured(_BOLD, "Options"),
            f"  {_coloured(_CYAN, '-h, --help     ')}Show this help, or a command's: whetstone serve --help.",
            f"  {_coloured(_CYAN, '--version      ')}Print the version.",
            "",
            _coloured(_BOLD, "Examples"),
            *(f"  {COMMANDS[name].example}" for name in ("demo", "render", "check-config")),
        ]
    )


def _describe_unknown(name: str) -> str:
    if not name:
        return "which command? See whetstone --help; to try it without an account: whetstone demo"
    kind = "option" if name.startswith("-") else "command"
    near = difflib.get_close_matches(name, (*COMMANDS, *_OPTIONS), n=1)
    hint = f"did you mean {near[0]!r}?" if near else "see whetstone --help"
    return f"unknown {kind} {name!r}; {hint}"


def _fail(prog: str, message: str, code: int) -> int:
    print(f"{_coloured(_RED, f'{prog}:', sys.stderr)} {message}", file=sys.stderr)
    return code


_BOLD, _CYAN, _RED = "1", "36", "1;31"


def _coloured(code: str, text: str, stream: TextIO | None = None) -> str:
    """Colour the text on a terminal, without rich: loading it would take longer than `--help`."""
    stream = stream or sys.stdout
    is_coloured = stream is not None and stream.isatty() and not os.environ.get("NO_COLOR")
    return f"\x1b[{code}m{text}\x1b[0m" if is_coloured else text


class _Parser(argparse.ArgumentParser):
    """Reports an error in one line instead of printing the whole usage."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the arguments; an unknown option is reported with the nearest one that exists."""
        namespace, rest = super().parse_known_args(args, namespace)
        for unknown in (word.partition("=")[0] for word in rest if word.startswith("-")):
            near = difflib.get_close_matches(unknown, self._option_string_actions, n=1)
            self.error(f"unknown option {unknown}" + (f"; did you mean {near[0]}?" if near else ""))
        return namespace, rest

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            choices = ", ".join(map(str, action.choices))
            raise argparse.ArgumentError(action, f"must be one of {choices}, not {value!r}")

    def error(self, message: str) -> NoReturn:
        missing = message.removeprefix("the following arguments are required: ")
        what = message.removeprefix("argument ").replace(": must be ", " must be ", 1)
        if missing != message:
            what = f"missing {missing}"
        self.exit(_fail(self.prog, f"{what} (see {self.prog} --help)", 2))
