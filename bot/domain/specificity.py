"""Whether a text seems to name a thing, an effect, a change; guessed by word lists, so only for notes."""

from __future__ import annotations

from typing import Any

import re2


def names_a_thing(text: str) -> bool:
    """Whether the text names something that can be looked for: code, a file, a number, a part of the work."""
    plain = _plain(text)
    return _CODE.search(plain) is not None or _PART.search(plain) is not None


def says_an_effect(text: str) -> bool:
    """Whether the text says what is observed: something fails, lacks, contradicts, or happens when."""
    plain = _plain(text)
    return _FAULT.search(plain) is not None or _EFFECT.search(plain) is not None


def orders_a_change(text: str) -> bool:
    """Whether some sentence of the text tells to do something to something."""
    plain = _plain(text)
    return _ORDER.search(plain) is not None or _DEMAND.search(plain) is not None


def says_an_outcome(text: str) -> bool:
    """Whether the text says what will be better."""
    return _OUTCOME.search(_plain(text)) is not None


def _plain(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8").replace("’", "'")


def _any(words: str, ending: str = "") -> Any:
    """Any of the words, whole; a `+` stands for the gap between two."""
    either = "|".join(words.split()).replace("+", r"\s+")
    return re2.compile(rf"(?i)\b(?:{either}){ending}\b")


_CODE = re2.compile(
    r"`[^`]+`|\w\(|\w/\w|\w::\w|\w->\w|\[\[|--\w|\w\.[a-zA-Z]|[a-zA-Z]_[a-zA-Z0-9]|[a-z][A-Z]|[0-9]"
    r"|\b[A-Z][A-Z0-9]+\b|(?:^|\s)[\"“«‘']\w"
)
_PART = _any(
    """
    api argument array attribute block body branch buffer button byte cache call callback case catch
    check citation claim class client clock column command comment commit component condition config
    configuration connection constant constructor cookie counter coverage credential data database date
    default dependency description directory docstring document element endpoint entries entry enum
    event exception expression field file filename flag folder footnote format frontmatter function gate
    getter handler hash header heading hook id identifier import index input instance integer interface
    iterator job key label lambda length library licence license limit line link list literal lock
    lockfile log logger loop manifest map message metadata method migration mock model module mutex name
    null number object offset operator option output package page paragraph parameter parser password
    path pattern payload permission pipeline pointer port prefix process promise prompt property
    proposition queries query queue quote record reference regex request resource response result retry
    return role route row rule schema script section selector sentence server session setter setting
    signature socket source sql stack state statement step string struct suffix summary table tag
    template test thread timeout timestamp title token transaction tuple type unit url user username
    uuid validation validator value variable vector version view warning workflow yaml
    """,
    "s?",
)
_FAULT = _any(
    """
    allow block break broke bypass caus clash collid conflict contradict corrupt crash deadlock delet
    differ drop duplicat exceed expos fail hang hardcod hid ignor lack leak los mislead misrepresent
    miss mutat overclaim overflow overwrit prevent rais reject repeat restat return skip stop swallow
    throw truncat violat vulnerab yield
    """,
    r"\w{0,6}",
)
_EFFECT = _any("""
    are+not aren't because can't cannot could+not couldn't creates creating dead did+not didn't do+not
    does+not doesn't don't empty fewer+than has+no have+no if incorrect instead+of invalid is+not isn't
    leading+to leads+to lets more+than must+not never no+longer nothing out+of outdated resulting+in
    results+in runs says should+be should+have silently slow slower so stale there+is+no timed+out
    times+out too twice unbounded undefined unhandled unreachable unscoped unsupported untested unused
    vague was+not wasn't when whenever which while without won't wrong wrongly
""")

_VERBS = """
    accept add align allow annotate append apply assert assign attribute avoid await batch bind bound
    bump cache call cap capture cast catch change check choose cite clamp clarify clear close collapse
    combine compare compute configure confirm convert copy correct cover create cut declare decode
    deduplicate default defer define delete deprecate derive describe disable discard document drop edit
    emit enable encode encrypt enforce ensure escape exclude exit expand explain export expose extend
    extract fail fetch fill filter fix flush follow format freeze generate give group guard handle hash
    hide import include increase initialise initialize inject inline insert install invert isolate join
    keep label lift limit link list load lock log lower make map mark match measure merge migrate mock
    move name narrow normalise normalize omit open order override parse pass pin point prefix preserve
    print propagate protect prove provide pull push put qualify quote raise re-read re-run read rebase
    rebuild record redact reduce refer register reject release reload remove rename render reorder
    repeat replace report require reset resolve restore restrict retry return reuse revert rewrite
    rotate round run sanitise sanitize save scope select send separate serialise serialize set share
    shorten show skip sort specify split squash start state stop store strip substitute supply swap
    switch take test throw tighten trim truncate turn type undo update upgrade use validate verify wait
    warn wrap write
"""
_CLAUSE = r"(?:^|[.!?;:,(\n–—]|\b(?:and|or|then|please)\s)[\s*_>#0-9.)•-]*"
_LEAD = r"(?:(?:please|only|always|never|also|then|first|next|instead|just|do\s+not|don't|either)[,\s]+){0,3}"
_ORDER = re2.compile(rf"(?i){_CLAUSE}{_LEAD}(?:{'|'.join(_VERBS.split())})\b[:*_]*\s+\S")
_DEMAND = re2.compile(r"(?i)\b(?:must|needs?\s+to|has\s+to|have\s+to)\s+\w+\s+\S|\S\s=\s\S|(?:→|->)\s*\S")

_OUTCOME = _any("""
    allows avoids because ensures for+better in+order+to instead+of keeps otherwise prevents rather+than
    so to+avoid to+ensure to+keep to+prevent to+stop
""")
