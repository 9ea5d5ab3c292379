"""`whetstone mcp`: serve an agent that speaks MCP, over standard input and output."""

from __future__ import annotations

import argparse

from bot.cli import UsageError
from bot.cli.common import client_from_environment


def add_arguments(_parser: argparse.ArgumentParser) -> None:
    """Add nothing: an agent's configuration can set the environment."""


def run(_arguments: argparse.Namespace) -> None:
    """Run the command."""
    try:
        from bot.mcp import build_server
    except ModuleNotFoundError as error:
        raise UsageError(
            f"the extra mcp is not installed ({error.name} is missing): pip install 'whetstone-bot[mcp]'"
        ) from None
    build_server(client_from_environment()).run()
