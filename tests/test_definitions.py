"""Names to lines, in every language, and files that are meant to do harm."""

import pytest

from bot.definitions import MAX_DEFINITIONS, Definition, find_definitions, outline_file

PYTHON = "TTL = 60\n\n@cached\n@traced\ndef load(a):\n    return a\n\nclass Token:\n    size = 1\n    def parse(self):\n        pass\n"


def lines(path: str, text: str) -> dict[str, tuple[int, int]]:
    return {each.name: (each.line, each.end_line) for each in find_definitions(path, text) or ()}


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        (
            "a.py",
            PYTHON,
            {"TTL": (1, 1), "load": (5, 6), "Token": (8, 11), "Token.size": (9, 9), "Token.parse": (10, 11)},
        ),
        ("a.js", "function f() {\n}\nclass A {\n  m() {}\n}\n", {"f": (1, 2), "A": (3, 5), "A.m": (4, 4)}),
        ("a.jsx", "const App = () => <b/>\n", {"App": (1, 1)}),
        (
            "a.ts",
            "export interface I {\n  a: string\n}\nexport const T: number = 1\n",
            {"I": (1, 3), "T": (4, 4)},
        ),
        ("a.tsx", "enum E { A }\ntype T = string\n", {"E": (1, 1), "T": (2, 2)}),
        ("a.go", "package a\n\ntype S struct{}\n\nfunc (s *S) M() {\n}\n", {"S": (3, 3), "M": (5, 6)}),
        (
            "a.rs",
            "impl S {\n    fn m(&self) {}\n}\nconst X: u8 = 1;\n",
            {"S": (1, 3), "S.m": (2, 2), "X": (4, 4)},
        ),
        (
            "A.java",
            "class A {\n  int n;\n  void m() {\n  }\n}\n",
            {"A": (1, 5), "A.n": (2, 2), "A.m": (3, 4)},
        ),
        ("a.c", "#define M 3\nstatic int\nadd(int a) {\n}\n", {"M": (1, 1), "add": (3, 4)}),
        (
            "a.cpp",
            "namespace n {\nclass K {\n  void m() {}\n};\n}\n",
            {"n": (1, 5), "n.K": (2, 4), "n.K.m": (3, 3)},
        ),
        ("a.md", "# One\n\n## Two\n\ntext\n\n## Three\n", {"One": (1, 7), "Two": (3, 6), "Three": (7, 7)}),
    ],
)
def test_a_name_is_resolved_to_its_lines(path, text, expected):
    assert lines(path, text) == expected


def test_decorators_and_attributes_belong_to_what_they_stand_before():
    (rust,) = find_definitions("a.rs", "#[a]\n#[b]\nfn t() {}\n")
    (load,) = [each for each in find_definitions("a.py", PYTHON) if each.name == "load"]
    assert (rust.first_line, rust.line, load.first_line) == (1, 3, 3)


def test_a_language_that_is_not_known_has_no_names():
    assert find_definitions("a.zig", "fn a() void {}") is None


def test_a_file_of_many_names_is_read_without_harm():
    # Points of nodes, asked for by the thousand, crash the binding.
    assert len(find_definitions("a.py", "def f():\n    pass\n" * 20_000)) == MAX_DEFINITIONS


async def test_the_worker_gives_what_the_parser_gives():
    assert await outline_file("a.py", "def f():\n    pass\n") == (Definition("f", 1, 2, 1),)


async def test_a_file_that_crashes_the_parser_or_takes_for_ever_harms_nobody():
    assert await outline_file("a.c", "(" * 500_000, seconds=0.5) is None
