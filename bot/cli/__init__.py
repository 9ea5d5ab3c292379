"""The command line; one module per command."""

from __future__ import annotations

import argparse
import difflib
import importlib
import pkgutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from bot.gates.problems import RuleFileError

_OPTIONS = ("-h", "--help", "--version")


@dataclass(frozen=True, slots=True)
class CliCommand:
    """A command of the command line: its name, help, example, arguments and function."""

    name: str
    help: str
    example: str
    arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


class UsageError(Exception):
    """The caller's mistake: printed in one line; the command ends with exit code 2."""


class CommandFailed(Exception):
    """GitHub or the store failed: printed in one line; the command ends with exit code 1."""


def load_commands() -> dict[str, CliCommand]:
    """Load every command that a module of this package offers as `COMMAND`, by name."""
    commands = {}
    for module in pkgutil.iter_modules(__path__, prefix=f"{__name__}."):
        command = getattr(importlib.import_module(module.name), "COMMAND", None)
        if isinstance(command, CliCommand):
            commands[command.name] = command
    return dict(sorted(commands.items()))


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
    registry = {} if [*argv[:1]] == ["--version"] else _load_named(argv) or load_commands()
    parser = _Parser(
        prog="whetstone",
        description="Answers a rejected pull request with what failed, where, and how to fix it.",
        epilog="Each command has --help with an example. To see it all without an account: whetstone demo",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    choices = parser.add_subparsers(
        title="commands", dest="command", metavar="COMMAND", required=True, parser_class=_Parser
    )
    for command in registry.values():
        sub = choices.add_parser(
            command.name,
            help=command.help,
            description=command.help,
            epilog=f"Example:\n  {command.example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.arguments(sub)
    _reject_unknown_command(argv, registry)
    arguments = parser.parse_args(argv)
    try:
        return registry[arguments.command].run(arguments)
    except (UsageError, CommandFailed) as error:
        print(f"whetstone {arguments.command}: {error}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    except RuleFileError as problems:
        print(problems, file=sys.stderr)
        return 2


def _load_named(argv: Sequence[str]) -> dict[str, CliCommand]:
    """Load only the command that is named: loading all would take longer than most of them run."""
    name = argv[0].replace("-", "_") if argv else ""
    if name not in {module.name for module in pkgutil.iter_modules(__path__)}:
        return {}
    command = getattr(importlib.import_module(f"{__name__}.{name}"), "COMMAND", None)
    return {command.name: command} if isinstance(command, CliCommand) and command.name == argv[0] else {}


class _Version(argparse.Action):
    """Looks the version up only on demand: that costs more than most commands' start."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from importlib.metadata import version

        print(f"whetstone {version('whetstone-bot')}")
        parser.exit()


class _Parser(argparse.ArgumentParser):
    """Reports an error in one line instead of printing the whole usage."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the arguments; an unknown option is reported with the nearest one that exists."""
        namespace, rest = super().parse_known_args(args, namespace)
        for unknown in (word.partition("=")[0] for word in rest if word.startswith("-")):
            near = difflib.get_close_matches(unknown, self._option_string_actions, n=1)
            self.error(f"there is no option {unknown}" + (f"; did you mean {near[0]}?" if near else ""))
        return namespace, rest

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def _reject_unknown_command(argv: Sequence[str], registry: dict[str, CliCommand]) -> None:
    """Exit with one line where no command is named, or an unknown one."""
    typed = argv[0] if argv else ""
    if typed in registry or typed in _OPTIONS:
        return
    message = "which command? whetstone --help lists them, and whetstone demo shows what they are for"
    if typed:
        kind = "option" if typed.startswith("-") else "command"
        near = difflib.get_close_matches(typed, (*registry, *_OPTIONS), n=1)
        hint = f"; did you mean {near[0]!r}?" if near else f"; one of {', '.join(registry)}"
        message = f"there is no {kind} {typed!r}{hint}"
    print(f"whetstone: {message}", file=sys.stderr)
    raise SystemExit(2)
