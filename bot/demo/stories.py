"""The demo's two stories as data: a code repository (`code`) and a knowledge base (`knowledge-base`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Edit = tuple[str, str, str]
"""A file, the text to replace in it (empty: append), and the new text; `{today}` is the story's date."""
Ending = Literal["merged", "closed", "open"]


@dataclass(frozen=True, slots=True)
class Remark:
    """An inline comment on the first line of the file that contains `line`."""

    path: str
    line: str
    text: str


@dataclass(frozen=True, slots=True)
class Chapter:
    """One revision of the story's pull request: what is pushed, what the checks and the reviewer say."""

    heading: str
    message: str = ""
    edits: tuple[Edit, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)
    """The checks that fail, and what each of them prints; all others pass."""
    review: str = "CHANGES_REQUESTED"
    body: str = ""
    remarks: tuple[Remark, ...] = ()
    is_merge: bool = False
    """Whether it is merged, with no review before that."""


@dataclass(frozen=True, slots=True)
class PastPullRequest:
    """A pull request of the past weeks: the tags of each of its rejections, and how it ended."""

    author: str
    reviewer: str
    rejections: tuple[tuple[str, ...], ...] = ()
    end: Ending = "merged"
    day: int = 0
    """The day of the week on which it is opened."""
    dismissed_tag: str = ""
    """The tag that a maintainer dismisses the morning after."""
    has_stranger: bool = False
    """Whether an App that is not a validator requests changes, too."""


@dataclass(frozen=True, slots=True)
class PastAuthor:
    """An author: the tags that they are rejected for, and how often, at first and at last."""

    login: str
    tags: tuple[str, ...]
    first_risk: float
    last_risk: float


@dataclass(frozen=True, slots=True)
class Routine:
    """The pull requests of the past weeks: one new file each, from these parts."""

    path: str
    text: str
    """The file's text; `{flaw}` and `{result}` are what a revision changes."""
    flaw_tag: str
    flaw: str
    fixed: str
    results: tuple[str, str]
    """The last line as opened, and as revised for the nth time (`{n}`)."""
    words: tuple[tuple[str, ...], ...]
    """A title is one of each."""
    remarks: Mapping[str, tuple[str | None, str]]
    """How the line begins that a tag is about (empty: the last line; None: no line), and what is said."""
    dismissal: str
    authors: tuple[PastAuthor, ...]
    last_week: tuple[PastPullRequest, ...]
    """The week that the summary is about, chosen so that it has recommendations."""


@dataclass(frozen=True, slots=True)
class Story:
    """A repository, its past, and one pull request that is rejected step by step."""

    repository: str
    pack: str
    files: Mapping[str, str]
    checks: tuple[str, ...]
    title: str
    description: str
    rejected: tuple[Chapter, ...]
    accepted: tuple[Chapter, ...]
    routine: Routine
    note: str
    """The line that a revision adds where it has nothing else to change."""
    author: str = "rio-agent[bot]"


def _last_week(fixable: str, disputed: str, minor: str) -> tuple[PastPullRequest, ...]:
    return (
        PastPullRequest("rio-agent[bot]", "alice", ((fixable,),), "closed"),
        PastPullRequest("clay-agent[bot]", "bob", ((fixable,),), "open", day=1, has_stranger=True),
        PastPullRequest("maya", "bob", ((disputed,),), dismissed_tag=disputed, has_stranger=True),
        PastPullRequest("jonas", "alice", ((disputed, minor), (disputed,)), has_stranger=True),
        PastPullRequest("rio-agent[bot]", "alice", ((fixable, minor),), day=1),
        PastPullRequest("clay-agent[bot]", "alice", day=2),
        PastPullRequest("maya", "bob", day=2),
    )


_CART, _CART_TEST = "src/cart.py", "tests/test_cart.py"


def _pytest(actual: int) -> str:
    failure = f"AssertionError: assert {actual} == 1003"
    return f"""\
=================================== FAILURES ===================================
_____________________________ test_spring_discount _____________________________

    def test_spring_discount():
>       assert discounted(["pen", "book"], "SPRING") == 1003
E       {failure}

tests/test_cart.py:9: AssertionError
=========================== short test summary info ============================
FAILED tests/test_cart.py::test_spring_discount - {failure}
========================= 1 failed, 1 passed in 0.02s ==========================
"""


_CODE = Story(
    repository="acme/shop",
    pack="code-review",
    files={
        "README.md": "# shop\n\nCarts and what they cost.\n",
        ".github/whetstone.yml": (
            "version: 1\nextends: [code-review]\nvalidators:\n  checks:\n    test: [tests_failing]\n"
        ),
        _CART: '''\
"""Carts and what they cost, in cents."""

PRICES = {"pen": 120, "book": 995}


def price(item):
    return PRICES[item]


def total(items):
    return sum(price(item) for item in items)
''',
        _CART_TEST: (
            'from src.cart import total\n\n\ndef test_total():\n    assert total(["pen", "book"]) == 1115\n'
        ),
    },
    checks=("test", "lint", "types"),
    title="Add discount codes to the cart",
    description="Adds `discounted()`, which takes a discount code into account.",
    rejected=(
        Chapter(
            "alice requests changes, and a test fails",
            edits=(
                (
                    _CART,
                    "",
                    """

CODES = {"SPRING": 10}


def discounted(items, code):
    tmp2 = []
    try:
        for item in items:
            tmp2.append(price(item) - total(items) * CODES[code] // 100 // len(items))
    except:
        return total(items)
    return sum(tmp2)
""",
                ),
                (_CART_TEST, "import total", "import discounted, total"),
                (
                    _CART_TEST,
                    "",
                    """

def test_spring_discount():
    assert discounted(["pen", "book"], "SPRING") == 1003
""",
                ),
            ),
            failed={"test": _pytest(1005)},
            body="Useful! Before it can be merged:\n\n- [tests_missing] an unknown code has no test",
            remarks=(
                Remark(
                    _CART,
                    "except:",
                    "[error_handling_missing] a bare except also hides a typo in an item's name\n"
                    "```suggestion\n    except KeyError:\n```",
                ),
                Remark(
                    _CART,
                    "tmp2.append",
                    "`total()` runs once per item, which is quadratic for large carts. "
                    "Compute it once before the loop.",
                ),
                Remark(_CART, "tmp2 = []", "nit: `tmp2` could be `prices`"),
            ),
        ),
        Chapter(
            "rio-agent fixes four of five; the test for an unknown code is still missing",
            "Compute the total once, catch only unknown codes",
            (
                (
                    _CART,
                    """\
    tmp2 = []
    try:
        for item in items:
            tmp2.append(price(item) - total(items) * CODES[code] // 100 // len(items))
    except:
        return total(items)
    return sum(tmp2)
""",
                    """\
    amount = total(items)
    try:
        percent = CODES[code]
    except KeyError:
        return amount
    return amount * (100 - percent) // 100
""",
                ),
            ),
            body="Much better.\n\n- [tests_missing] an unknown code still has no test",
        ),
        Chapter(
            "rio-agent adds that test, but the other one fails again: a regression",
            "Test an unknown code, subtract the discount",
            (
                (_CART, "return amount * (100 - percent) // 100", "return amount - amount * percent // 100"),
                (
                    _CART_TEST,
                    "",
                    '\n\ndef test_unknown_code():\n    assert discounted(["pen"], "WINTER") == 120\n',
                ),
            ),
            failed={"test": _pytest(1004)},
            body="Thanks for the test. Also:\n\n- The README has to list the codes.",
            remarks=(
                Remark(
                    _CART,
                    "percent = CODES",
                    "[edge_case_missed] with a code for more than 100 percent the shop pays the customer",
                ),
            ),
        ),
    ),
    accepted=(
        Chapter(
            "rio-agent fixes all three, the checks pass, alice approves",
            "Round in the customer's favour, limit the discount to 100 percent",
            (
                (_CART, "return amount - amount * percent // 100", "return amount * (100 - percent) // 100"),
                (_CART, "percent = CODES[code]", "percent = min(CODES[code], 100)"),
                ("README.md", "", "\n| Code | Discount |\n|---|--:|\n| SPRING | 10 % |\n"),
            ),
            review="APPROVED",
            body="Good now.",
        ),
        Chapter("bob merges it", is_merge=True),
    ),
    routine=Routine(
        path="src/{slug}_{number}.py",
        text='''\
"""{title}."""

LIMIT = 50


def process(order):
    try:
        amount = order["amount"]
    {flaw}
        return None
    return {result}
''',
        flaw_tag="error_handling_missing",
        flaw="except Exception:",
        fixed="except KeyError:",
        results=("min(amount, LIMIT)", "min(amount, LIMIT * {n})"),
        words=(
            ("add", "support", "speed up", "simplify", "limit"),
            ("gift cards", "refunds", "vouchers", "price alerts", "wish lists", "returns", "bulk orders"),
            ("in the checkout", "for guests", "in the order history", "on the product page"),
        ),
        remarks={
            "error_handling_missing": ("    except", "this hides every other error"),
            "tests_missing": ("def ", "no test calls this"),
            "naming_unclear": ("def ", "process says nothing about what it does"),
            "hardcoded_value": ("LIMIT", "the limit differs by country"),
            "edge_case_missed": ("", "a negative amount gets through"),
            "lockfile_outdated": (None, "the lock file was not updated with the manifest"),
        },
        dismissal="the limit is the same everywhere by contract",
        authors=(
            PastAuthor(
                "rio-agent[bot]", ("lockfile_outdated", "tests_missing", "error_handling_missing"), 0.9, 0.35
            ),
            PastAuthor(
                "clay-agent[bot]", ("edge_case_missed", "tests_missing", "lockfile_outdated"), 0.65, 0.4
            ),
            PastAuthor("maya", ("naming_unclear", "tests_missing"), 0.45, 0.4),
            PastAuthor("jonas", ("hardcoded_value", "edge_case_missed"), 0.4, 0.4),
        ),
        last_week=_last_week("lockfile_outdated", "edge_case_missed", "naming_unclear"),
    ),
    note="# Revised after the review.",
)

_CLAIM = "claims/markets/futarchy-manipulation.md"
_SHARE = "Attackers moved the price by 34 %"

_KNOWLEDGE_BASE = Story(
    repository="acme/knowledge",
    pack="knowledge-base",
    files={"README.md": "# knowledge\n"},
    checks=("validate", "links", "frontmatter", "spelling", "build"),
    title="Futarchy proves that markets resist manipulation",
    description="A claim on what the experiment with 24 markets shows.",
    rejected=(
        Chapter(
            "alice requests changes: two blocking issues",
            edits=(
                (
                    _CLAIM,
                    "",
                    f"""\
---
type: claim
domain: markets
description: What one experiment says about manipulation
confidence: likely
source: sources/hanson-2013.md
created: 2026-13-01
---
# Futarchy proves that markets resist

{_SHARE}.
""",
                ),
            ),
            failed={"validate": "", "links": ""},
            body="Not yet.",
            remarks=(
                Remark(_CLAIM, "created:", "[date_errors] month 13 is out of range"),
                Remark(_CLAIM, _SHARE, "[body_too_thin] one sentence is no argument"),
            ),
        ),
        Chapter(
            "rio-agent fixes date and argument; the title claims too much",
            "Use the day of the extraction, say why it holds",
            (
                (_CLAIM, "2026-13-01", "{today}"),
                (
                    _CLAIM,
                    f"{_SHARE}.\n",
                    f"{_SHARE} in all 24 markets.\nOthers had undone it within a day.\n",
                ),
            ),
            body="Nearly.",
            remarks=(Remark(_CLAIM, "# ", "[title_overclaims] proves, from one experiment with 24 markets"),),
        ),
        Chapter(
            "rio-agent pushes an older draft: the date is wrong again, a regression",
            "Take the numbers from the draft",
            ((_CLAIM, "{today}", "2026-13-01"), (_CLAIM, "34 %", "43 %")),
            failed={"validate": ""},
            body="<!-- ISSUES: near_duplicate -->",
            remarks=(
                Remark(
                    _CLAIM,
                    "43 %",
                    "[factual_discrepancy] 43 % should be 34 %\n"
                    f"```suggestion\n{_SHARE} in all 24 markets.\n```",
                ),
                Remark(_CLAIM, "created:", "[date_errors] month 13 is back"),
            ),
        ),
    ),
    accepted=(
        Chapter(
            "rio-agent fixes everything, alice approves",
            "Claim what the experiment shows",
            (
                (_CLAIM, "2026-13-01", "{today}"),
                (_CLAIM, "43 %", "34 %"),
                (_CLAIM, "Futarchy proves that markets resist", "One experiment suggests resistance"),
            ),
            review="APPROVED",
            body="Good now.",
        ),
        Chapter("bob merges it", is_merge=True),
    ),
    routine=Routine(
        path="claims/{number:03d}.md",
        text="""\
---
type: claim
domain: markets
description: {title}
confidence: likely
source: sources/reader.md
{flaw}
---
# {title}

{result}
""",
        flaw_tag="date_errors",
        flaw="created: 2026-13-01",
        fixed="created: {today}",
        results=("One study says so.", "One study says so, and study {n} agrees."),
        words=(
            (
                "market depth",
                "a thin order book",
                "a liquidity subsidy",
                "a decision market",
                "crowd size",
                "an expert panel",
                "the base rate",
                "the scoring rule",
                "price discovery",
                "hedging demand",
            ),
            ("narrows", "delays", "predicts", "limits", "follows", "outweighs"),
            ("manipulation", "calibration error", "the first quote", "participation", "consensus"),
        ),
        remarks={
            "date_errors": ("created:", "month 13 is out of range"),
            "title_overclaims": ("# ", "one experiment does not prove it"),
            "broken_wiki_links": ("", "there is no such file in the index"),
            "factual_discrepancy": ("", "the source says 34 %, not 43 %"),
            "scope_error": ("# ", "this holds for binary markets only"),
            "body_too_thin": ("", "the body repeats the title"),
            "confidence_miscalibration": ("confidence:", "one source can't be likely"),
        },
        dismissal="three experiments agree",
        authors=(
            PastAuthor("rio-agent[bot]", ("date_errors", "title_overclaims", "broken_wiki_links"), 0.9, 0.35),
            PastAuthor("clay-agent[bot]", ("scope_error", "factual_discrepancy", "date_errors"), 0.65, 0.4),
            PastAuthor("maya", ("title_overclaims", "broken_wiki_links"), 0.45, 0.4),
            PastAuthor("jonas", ("body_too_thin", "confidence_miscalibration"), 0.4, 0.4),
        ),
        last_week=_last_week("date_errors", "title_overclaims", "broken_wiki_links"),
    ),
    note="Revised after the review.",
)

STORIES: Mapping[str, Story] = {"code": _CODE, "knowledge-base": _KNOWLEDGE_BASE}
