"""What does a file define? Asked of a process of its own, because a hostile file can crash a parser.

The process gets the path as its argument and the text on its standard input; it prints JSON. It has none
of our environment, so nothing in it is worth stealing.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys

from bot.adapters.places import definitions
from bot.domain.grounding.observations import Definition

SECONDS = 5.0
"""A parser that takes longer is given up on."""

logger = logging.getLogger("pipeline.grounding")


async def outline(path: str, text: str, seconds: float = SECONDS) -> tuple[Definition, ...] | None:
    """What the file defines; None where the language is not known or the parser fails on the file."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        __name__,
        path,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    try:
        async with asyncio.timeout(seconds):
            answer, _ = await process.communicate(text.encode("utf-8", "replace"))
    except TimeoutError:
        process.kill()
        await process.wait()
        answer = b""
    if process.returncode:
        logger.warning("a file's definitions can't be read", extra={"status": process.returncode})
        return None
    return _read(answer)


def _read(answer: bytes) -> tuple[Definition, ...] | None:
    try:
        found = json.loads(answer)
        return None if found is None else tuple(Definition(*each) for each in found)
    except (ValueError, TypeError):
        return None


def main() -> None:
    """Print what the file on the standard input defines."""
    found = definitions(sys.argv[1], sys.stdin.buffer.read().decode("utf-8", "replace"))
    listed = None if found is None else [(d.name, d.line, d.end_line, d.first_line) for d in found]
    sys.stdout.write(json.dumps(listed))


if __name__ == "__main__":
    main()
