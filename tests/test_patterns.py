"""No pattern of ours backtracks: no text makes one take more than linear time."""

import ast
import functools
import gc
import importlib
import pkgutil
import re
import types
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
import re2

import bot
from bot import regex

BOT = Path(bot.__file__).parent
BACKTRACKING = {"re", "sre_compile", "fnmatch", "regex"}
ALLOWED: dict[tuple[str, str], str] = {}
"""Module and what it imports: why no text of others can make it slow; only anchored, bounded uses may be added."""

INTO = (
    dict,
    list,
    tuple,
    set,
    frozenset,
    property,
    staticmethod,
    classmethod,
    functools.partial,
    functools.cached_property,
    types.MappingProxyType,
    types.BuiltinMethodType,
    types.CellType,
    types.MethodType,
    types.MemberDescriptorType,
    type(functools.lru_cache(len)),
)


def backtracking_imports(source: str) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add((node.module or "").partition(".")[0])
        elif isinstance(node, ast.Constant) and node.value == "re":  # import_module("re"), __import__("re")
            found.add("re")
    return found & BACKTRACKING


def reachable(modules: Iterable[types.ModuleType]) -> Iterator[object]:
    """What modules hold: in containers, classes, instances, closures, defaults and caches."""
    seen: set[int] = set()
    waiting: list[object] = [vars(module) for module in modules]
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        yield thing
        if isinstance(thing, types.FunctionType):  # not its globals: a decorator's are those of its library
            waiting += [thing.__closure__, thing.__defaults__, thing.__kwdefaults__, vars(thing)]
        elif isinstance(thing, INTO) or is_ours(thing) or is_ours(type(thing)):
            waiting += gc.get_referents(thing)


def is_ours(thing: object) -> bool:
    return isinstance(thing, type) and str(thing.__module__).partition(".")[0] == "bot"


@pytest.fixture(scope="module")
def modules() -> list[types.ModuleType]:
    names = (found.name for found in pkgutil.walk_packages(bot.__path__, "bot."))
    wanted = (name for name in names if "migrations" not in name and not name.endswith("__main__"))
    return [importlib.import_module(name) for name in wanted]


def test_no_module_imports_an_engine_that_backtracks():
    used = {
        (str(path.relative_to(BOT)), name)
        for path in sorted(BOT.rglob("*.py"))
        for name in backtracking_imports(path.read_text("utf-8"))
    }
    assert used == set(ALLOWED)


def test_no_pattern_that_a_module_holds_backtracks(modules):
    assert [thing for thing in reachable(modules) if isinstance(thing, re.Pattern)] == []


def test_every_pattern_reads_text_in_any_script(modules):
    """RE2 refuses what gets too large, which a class of all letters repeated many times is."""
    patterns = [thing for thing in reachable(modules) if isinstance(thing, regex.Regex)]
    refused = {}
    for pattern in patterns:
        try:
            pattern.compile().search("naïve 中文 \U0001f44d")
        except re2.error as error:
            refused[pattern.pattern] = error
    assert (len(patterns) > 100, refused) == (True, {})


@pytest.mark.parametrize(
    "source",
    [
        "import re",
        "import json, re as patterns",
        "from re import compile",
        "def read():\n    import re",
        "import importlib\nfound = importlib.import_module('re')",
    ],
)
def test_every_way_to_import_it_is_noticed(source):
    assert backtracking_imports(source) == {"re"}


def planted_in_a_container(module, pattern):
    module.TABLE = {"a": [(1, frozenset({pattern}))]}


def planted_in_a_class(module, pattern):
    module.Reader = type("Reader", (), {"PATTERN": pattern, "__module__": module.__name__})


def planted_in_an_instance(module, pattern):
    kind = type("Reader", (), {"__slots__": ("own",), "__module__": module.__name__})
    module.reader = kind()
    module.reader.own = pattern


def planted_in_a_closure(module, pattern):
    def read(text):
        return pattern.search(text)

    read.__module__ = module.__name__
    module.read = read


def planted_in_a_default(module, pattern):
    def read(text, own=pattern):
        return own.search(text)

    read.__module__ = module.__name__
    module.read = read


def planted_in_a_cache(module, pattern):
    module.compiled = functools.cache(lambda _: pattern)
    module.compiled("a")


def planted_in_a_bound_method(module, pattern):
    module.find = pattern.search


@pytest.mark.parametrize(
    "plant",
    [
        planted_in_a_container,
        planted_in_a_class,
        planted_in_an_instance,
        planted_in_a_closure,
        planted_in_a_default,
        planted_in_a_cache,
        planted_in_a_bound_method,
    ],
)
def test_a_pattern_is_found_wherever_a_module_holds_it(plant):
    module = types.ModuleType("bot.planted")
    pattern = re.compile("(a+)+$")
    plant(module, pattern)
    assert pattern in list(reachable([module]))
