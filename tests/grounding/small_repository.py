"""A small repository in eight languages, with its checks and its branch, as grounding sees it."""

from __future__ import annotations

import hashlib

from bot.definitions import find_definitions
from bot.pull_request.checks import CheckAnnotation
from bot.pull_request.facts import (
    BranchState,
    EntryKind,
    FileText,
    Observations,
    ObservedCheckRun,
    Tree,
    TreeEntry,
    UnreadableFile,
)

HEAD = "9f2c1e47a1d0b6c85e3f2a9947d1c0be5a6f7d83"

FILES = {
    "README.md": "# Depot\n\nKeeps parcels.\n\n## Install\n\nRun `make setup`.\n\n## Use\n\nRun `depot serve`.\n",
    "src/auth.py": (
        "import hmac\nfrom depot.clock import now\n\nTTL = 60\nMAX_TRIES = 3\n\n\n"
        "def parse_token(text):\n    head, _, tail = text.partition('.')\n    return head, tail\n\n\n"
        "class Session:\n    limit = 10\n\n    def renew(self):\n        # never call reset() here\n"
        "        return now() + TTL\n\n\n@cached\ndef authenticate(user):\n    return hmac.compare_digest(user, 'x')\n"
    ),
    "src/empty.py": "",
    "web/cart.ts": (
        "export const TTL: number = 90\nexport interface Line {\n  price: number\n}\n\n"
        "export function total(lines: Line[]): number {\n  return lines.reduce((sum, each) => sum + each.price, 0)\n}\n"
    ),
    "web/menu.js": "import { open } from './open.js'\n\nconst items = []\n\nfunction show() {\n  open(items)\n}\n",
    "cmd/depot/main.go": (
        'package main\n\nimport "fmt"\n\nconst Port = 8080\n\ntype Depot struct{ Name string }\n\n'
        'func (d *Depot) Greet() {\n\tfmt.Println("hello", d.Name)\n}\n\nfunc main() {\n\t(&Depot{"north"}).Greet()\n}\n'
    ),
    "core/src/lib.rs": (
        "use std::fmt;\n\npub const LIMIT: usize = 64;\n\n#[derive(Debug)]\npub struct Parcel {\n    pub weight: u32,\n}\n\n"
        "impl Parcel {\n    pub fn heavy(&self) -> bool {\n        self.weight > 30\n    }\n}\n"
    ),
    "app/Ledger.java": (
        "package app;\n\npublic class Ledger {\n    static final int RETRIES = 5;\n\n    public int balance() {\n"
        "        return 0;\n    }\n\n    private void post(int amount) {\n    }\n}\n"
    ),
    "native/ring.c": (
        "#include <stdlib.h>\n#define SIZE 128\n\nstruct ring { int head; };\n\nint push(struct ring *r, int v) {\n"
        "    return v;\n}\n"
    ),
    "config/app.yml": "server:\n  port: 8080\n  timeout: 30 # seconds\nlog:\n  level: info\ndebug: false\n",
    "config/db.toml": '[pool]\nsize = 20\nname = "main"\n',
    "config/web.json": '{"cors": {"origin": "https://depot.example"}, "cache": 300, "gzip": true}\n',
    "config/two.yml": "a:\n  timeout: 1\nb:\n  timeout: 2\n",
    "package.json": (
        '{"name": "web", "dependencies": {"lodash": "4.17.21", "left-pad": "^1.3.0"}, "devDependencies": {"jest": "29.7.0"}}\n'
    ),
    "pyproject.toml": '[project]\nname = "depot"\ndependencies = ["requests==2.31.0", "attrs>=23.1", "Type_Guard==4.0"]\n',
    "requirements.txt": "# pinned\nflask==3.0.2\nuvloop==0.19.0 ; sys_platform != 'win32'\n",
    "core/Cargo.toml": '[package]\nname = "core"\n\n[dependencies]\nserde = "1.0"\nrand = { version = "=0.8.5" }\n',
    "go.mod": "module depot\n\ngo 1.22\n\nrequire (\n\tgithub.com/spf13/cobra v1.8.0\n\tgolang.org/x/sync v0.6.0\n)\n",
    "pom.xml": (
        "<project><properties><guava.version>33.0.0-jre</guava.version></properties><dependencies><dependency>"
        "<groupId>com.google.guava</groupId><artifactId>guava</artifactId><version>${guava.version}</version>"
        "</dependency></dependencies></project>\n"
    ),
    "docs/guide/setup.md": "# Setup\n\n1. Clone it.\n2. Run it.\n",
    "docs/old/setup.md": "# Setup\n\nThe old way.\n",
    "claims/markets/prediction-markets-and-manipulation.md": "# Markets\n\nAttackers moved the price by 34 %.\n",
    "tests/test_auth.py": "def test_login():\n    assert True\n\n\ndef test_renew():\n    assert False\n",
    "secrets/.env": "KEY=1\n",
}
FOLDERS = {path.rsplit("/", depth)[0] for path in FILES for depth in (1, 2, 3) if path.count("/") >= depth}
CHECKS = (
    ObservedCheckRun(
        1,
        "unit-tests",
        "failure",
        "1 failed, 41 passed\nFAILED tests/test_auth.py::test_renew - AssertionError: assert False",
        1,
        (
            CheckAnnotation("src/auth.py", 18, 18, "TypeError: unsupported operand type(s) in renew"),
            CheckAnnotation("web/cart.ts", 6, 6, "GET /cart answered 500"),
            CheckAnnotation("web/cart.ts", 7, 7, "GET /stock answered 500 instead of 200"),
        ),
    ),
    ObservedCheckRun(2, "lint", "success", "no findings"),
    ObservedCheckRun(3, "build", None),
    ObservedCheckRun(4, "docs", "success"),
    ObservedCheckRun(5, "deploy", "skipped"),
    ObservedCheckRun(6, "whetstone/gates", "failure", "everything is broken", ours=True),
)
BRANCH = BranchState(HEAD, mergeable=False, draft=False, commits=3, behind_by=2)


def blob(text: str) -> str:
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def lines(text: str) -> tuple[str, ...]:
    return tuple(text.split("\n")[:-1] if text.endswith("\n") else text.split("\n") if text else ())


def entries() -> dict[str, TreeEntry]:
    found = {folder: TreeEntry(EntryKind.FOLDER, "f" * 40) for folder in FOLDERS}
    found |= {path: TreeEntry(EntryKind.FILE, blob(text), len(text)) for path, text in FILES.items()}
    found["vendor/lib"] = TreeEntry(EntryKind.SUBMODULE, "1" * 40)
    found["latest.md"] = TreeEntry(EntryKind.SYMLINK, "2" * 40, 9)
    found["data/huge.csv"] = TreeEntry(EntryKind.FILE, "3" * 40, 5_000_000)
    found["logo.png"] = TreeEntry(EntryKind.FILE, "4" * 40, 900)
    return found


def make_observations() -> Observations:
    """Everything there is to see, without any budget."""
    texts = {
        path: FileText(lines(text), find_definitions(path, text))
        for path, text in FILES.items()
        if path != "secrets/.env"
    }
    return Observations(
        HEAD,
        Tree(entries()),
        {**texts, "logo.png": UnreadableFile("a binary file")},
        frozenset(),
        CHECKS,
        BRANCH,
    )
