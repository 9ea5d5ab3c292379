"""Run every benchmark, or those named on the command line, and print their tables."""

from __future__ import annotations

import argparse
import importlib
import pkgutil

import benchmarks


def main() -> None:
    found = [
        module.name for module in pkgutil.iter_modules(benchmarks.__path__) if not module.name.startswith("_")
    ]
    wanted = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    wanted.add_argument(
        "names", nargs="*", metavar="name", help=f"one of {', '.join(found)}; without any: all"
    )
    chosen = wanted.parse_args().names or found
    for name in chosen:
        if name not in found:
            wanted.error(f"there is no benchmark {name!r}; one of {', '.join(found)}")
    for name in chosen:
        print(f"\n== {name}")
        importlib.import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main()
