"""How do people say what is in a file, where a thing stands, or that a file is there?"""

from __future__ import annotations

from bot.domain import regex
from bot.domain.choices import ClaimType
from bot.domain.grounding.claim import Claim, Form
from bot.domain.grounding.clause import NOT, Heard, Pattern, pattern

_WHAT = (
    r"(?:the )?(?:function|method|class|struct|interface|type|trait|enum|constant|module|section|heading"
    r"|chapter)"
)
_VALUE = r"(?P<val>\ue000Q[0-9]+\ue001|-?[0-9][\w.%]*|[A-Za-z][\w-]*)"
_KEY = r"(?P<key>\ue000Q[0-9]+\ue001|[A-Za-z][\w.-]*)"
_THE = (
    r"(?:(?:the|a|an|this) )?(?:(?:text|string|line|word|words|phrase|literal|constant|value|import|call) )?"
)


def _contents(heard: Heard) -> Claim | None:
    return heard.claim(ClaimType.FILE_CONTENTS) if heard.quote() else None


def _verb(heard: Heard) -> Claim | None:
    verb = heard.group("verb").lower()
    form = (
        Form.CALLED
        if verb.startswith("call")
        else Form.IMPORTED
        if verb.startswith("import")
        else Form.STATED
    )
    return heard.claim(ClaimType.FILE_CONTENTS, form)


def _empty(heard: Heard) -> Claim | None:
    return heard.claim(ClaimType.FILE_CONTENTS, Form.EMPTY)


def _defined(heard: Heard) -> Claim | None:
    return heard.claim(ClaimType.FILE_LOCATION, Form.DEFINED)


def _at(heard: Heard) -> Claim | None:
    claim = heard.claim(ClaimType.FILE_LOCATION)
    return claim if claim.line else None


def _existence(heard: Heard) -> Claim | None:
    return heard.claim(ClaimType.FILE_EXISTENCE, subject="")


def _setting(heard: Heard) -> Claim | None:
    key, value = heard.word("key"), heard.word("val")
    if key.lower() in _NO_KEY or value.lower() in _NO_VALUE or _CALL.fullmatch(key):
        return None
    return heard.claim(ClaimType.CONFIGURATION_VALUES, subject=key, value=value)


def _pair(heard: Heard) -> Claim | None:
    found = _PAIR.fullmatch(heard.quote())
    mention = heard.mention
    if found is None or mention is None or not _CONFIG.search(mention.path):
        return None
    return heard.claim(ClaimType.CONFIGURATION_VALUES, subject=found[1], value=found[2])


def _cited_value(heard: Heard) -> Claim | None:
    return heard.claim(ClaimType.CONFIGURATION_VALUES, subject="", value=heard.word("val"))


_NO_KEY_WORDS = (
    "it this that there which what who file line test tests function method class build version error value"
)
_NO_KEY = frozenset(_NO_KEY_WORDS.split())
_NO_VALUE_WORDS = (
    "a an the not in defined declared set used missing wrong empty called never no only also still found"
    " hardcoded incorrect invalid unused duplicated outdated absent present gone broken needed here there"
)
_NO_VALUE = frozenset(_NO_VALUE_WORDS.split())
_CALL = regex.Pattern(r"[\w./-]+\(\)")
_PAIR = regex.Pattern(r"[\"']?([\w.-]+)[\"']?\s*[:=]\s*(.+?),?")
_CONFIG = regex.Pattern(
    r"\.(?:ya?ml|toml|ini|cfg|conf|json[c5]?|properties|env|xml)$|(?:^|/)\.[a-z]\w*$", ignore_case=True
)

CONFIGURATION: tuple[Pattern, ...] = (
    pattern(
        rf"{_KEY} (?:is|are|equals) (?P<no>not )?(?:(?:set|configured|pinned) (?:to|as|at) )?{_VALUE} in <P>",
        _setting,
    ),
    pattern(rf"<P> (?:sets?|configures?|has) {_KEY} (?:to|as|at|=) {_VALUE}", _setting),
    pattern(rf"<P> {NOT} set {_KEY} to {_VALUE}", _setting),
    pattern(rf"in <P>,? {_KEY} (?:is|=|equals) (?P<no>not )?(?:set to )?{_VALUE}", _setting),
    pattern(
        rf"config(?:uration)? value (?:of |for )?{_KEY} (?:is|=) (?P<no>not )?{_VALUE}\s*\((?:read|see"
        rf"|in) <P>\)",
        _setting,
    ),
    pattern(rf"config(?:uration)? value is {_VALUE}\s*\((?:read|see|in) <P>\)", _cited_value),
    pattern(r"<P> (?:sets?|has|contains?|says?) <Q>", _pair),
    pattern(r"<Q> is (?P<no>not )?(?:set )?in <P>", _pair),
)
CONTENTS: tuple[Pattern, ...] = (
    pattern(
        rf"<P> (?:still )?(?:{NOT} )?(?:still |also )?"
        rf"(?P<verb>contains?|has|have|includes?|mentions?|says?|reads?|imports?|calls?|hardcodes?)"
        rf" {_THE}<Q>",
        _verb,
    ),
    pattern(rf"<P> (?P<no>lacks|has no|is missing|omits|misses) {_THE}<Q>", _contents),
    pattern(r"<Q> (?:is|are) (?P<no>missing|absent) (?:from|in) <P>", _contents),
    pattern(
        r"<Q> (?:(?:is|are) (?:still )?(?P<no>not )?(?:found |present |mentioned |hardcoded )?in"
        r"|(?:occurs|appears) in) <P>",
        _contents,
    ),
    pattern(r"there is (?:still )?(?P<no>no )?(?:an? )?<Q> in <P>", _contents),
    pattern(
        r"line (?P<n>[1-9][0-9]{0,6}) (?:contains|is|reads|says|has) <Q>\s*\((?:read|see|in) <P>\)", _contents
    ),
    pattern(r"(?:the )?file contains <Q>\s*\((?:read|see) <P>\)", _contents),
    pattern(r"<P> is (?P<no>not )?empty", _empty),
)
LOCATION: tuple[Pattern, ...] = (
    pattern(
        r"<Q> (?:is |was )?(?P<no>not |never )?(?:defined|declared|implemented) (?:at|in|on|under) (?:the"
        r" file )?<P>",
        _defined,
    ),
    pattern(rf"<P> (?:{NOT} )?(?:defines?|declares?|implements?) (?:{_WHAT} )?<Q>", _defined),
    pattern(rf"<P> has (?P<no>no )?(?:an? )?{_WHAT} (?:named |called |titled )?<Q>", _defined),
    pattern(rf"{_WHAT} <Q> is (?P<no>missing) (?:from|in) <P>", _defined),
    pattern(rf"there is (?P<no>no )?(?:an? )?{_WHAT} (?:named |called |titled )?<Q> in <P>", _defined),
    pattern(rf"{_WHAT} <Q> (?:is )?(?:in|of|at) <P>", _defined),
    pattern(r"<Q> (?:is |stands )?(?:at|on) <P>", _at),
)
EXISTENCE: tuple[Pattern, ...] = (
    pattern(r"<P> (?:still |already )?exists", _existence),
    pattern(r"<P> (?P<no>does not|doesn't|no longer|never) exists?", _existence),
    pattern(
        r"<P> is (?:now )?(?P<no>missing|absent|gone|not there|not in the (?:repository|repo|tree|project))",
        _existence,
    ),
    pattern(r"<P> is in the (?:repository|repo|tree|project)", _existence),
    pattern(
        r"there(?: is|'s) (?:still )?(?P<no>no )?(?:such )?(?:an? )?(?:(?:file|directory|folder)"
        r" )?(?:named |called )?<P>",
        _existence,
    ),
    pattern(r"(?P<no>no) (?:such )?(?:file|directory|folder) (?:named |called )?<P>", _existence),
    pattern(r"<P> (?:was|has been|is) (?P<no>deleted|removed)", _existence),
    pattern(
        r"(?:repository|repo|project|tree) (?P<no>has no|lacks|does not have|doesn't have) (?:an? )?<P>",
        _existence,
    ),
    pattern(r"(?:repository|repo|project|tree) (?:has|contains) (?:an? )?<P>", _existence),
    pattern(r"<P>\s*[:,]? ?there is (?P<no>no) such (?:file|page|claim|note|directory|folder)", _existence),
)
