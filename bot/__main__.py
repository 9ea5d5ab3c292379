"""Run the command line: `whetstone`, or `python -m bot`."""

import gc
import io
import sys

from bot import cli


def main() -> None:
    """Run the command line of this process."""
    # JSON and comments are UTF-8, whatever the terminal is set to.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    gc.disable()  # until the command is loaded: what loading makes stays, so looking for garbage is in vain
    raise SystemExit(cli.run_command_line(sys.argv[1:]))


if __name__ == "__main__":
    main()
