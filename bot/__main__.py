"""`whetstone` and `python -m bot`: the same thing."""

import sys

from bot import cli


def main() -> None:
    """Run the command line of this process."""
    raise SystemExit(cli.run(sys.argv[1:]))


if __name__ == "__main__":
    main()
