"""Run every benchmark, or those named on the command line, and print their tables."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import benchmarks


def main() -> None:
    found = [
        module.name for module in pkgutil.iter_modules(benchmarks.__path__) if not module.name.startswith("_")
    ]
    chosen = sys.argv[1:] or found
    for name in chosen:
        if name not in found:
            raise SystemExit(f"there is no benchmark {name!r}; one of {', '.join(found)}")
    for name in chosen:
        print(f"\n== {name}")
        importlib.import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main()
