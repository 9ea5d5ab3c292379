"""How do people speak of speed, design, history, and of what needs no looking up?"""

from __future__ import annotations

from bot.domain import regex
from bot.domain.choices import ClaimType

_LANGUAGE = (
    r"(?:python|javascript|typescript|java|go|golang|rust|c\+\+|c#|ruby|php|kotlin|swift|sql|bash|html"
    r"|css|yaml|json)"
)


def _any(*expressions: str) -> regex.Pattern:
    return regex.Pattern("|".join(expressions).replace(" ", r"\s+"), ignore_case=True)


# A sentence of these kinds is about no part of this repository: it is never flagged.
NOT_REQUIRED: tuple[tuple[ClaimType, regex.Pattern], ...] = (
    (
        ClaimType.MATHEMATICAL_FACTS,
        _any(
            r"\b[0-9.]+ ?[-+*/^×] ?[0-9.]+ ?(?:=|is|equals)",
            r"\bis (?:a )?prime\b",
            r"\bdivisible by\b",
            r"\b(?:two|2)\^[0-9]+",
            r"\bsquare root of\b",
            r"\blog(?:arithm)? of\b",
            r"\bsum of (?:the )?(?:angles|first)\b",
            r"\bpercent of [0-9]",
            r"\bpigeonhole\b",
            r"\bodd number",
            r"\beven number",
        ),
    ),
    (
        ClaimType.WELL_KNOWN_PATTERNS,
        _any(
            r"\b(?:observer|factory|singleton|strategy|visitor|decorator|adapter|builder|repository"
            r"|command|facade) pattern\b",
            r"\bdependency injection (?:makes|allows|decouples|helps|lets)\b",
            r"\bmodel-view-controller\b",
            r"\b(?:circuit breaker|retry with backoff|publish[- ]subscribe|event sourcing|two-phase commit)\b"
            r" (?:is|are|makes|prevents|protects|decouples|keeps)",
        ),
    ),
    (
        ClaimType.LANGUAGE_SYNTAX,
        _any(
            rf"^in {_LANGUAGE}\b",
            rf"^{_LANGUAGE}(?:'s)? (?:uses|has|requires|allows|treats|evaluates|is|does|syntax|strings"
            rf"|lists|arrays|functions)\b",
            r"\b(?:keyword|operator|syntax|statement) (?:in|of) (?:the )?" + _LANGUAGE,
        ),
    ),
    (
        ClaimType.GENERAL_PROGRAMMING_KNOWLEDGE,
        _any(
            r"^(?:in general|generally|usually|as a rule|typically)\b",
            r"\brecursion (?:needs|without)\b",
            r"\bfloating[- ]point (?:numbers|arithmetic)\b",
            r"\bhash (?:maps|tables) (?:have|give|are|look)\b",
            r"\bglobal (?:state|variables) (?:make|makes|are|is)\b",
            r"\bsql injection (?:happens|is|arises)\b",
            r"\brace conditions (?:happen|are|occur)\b",
            r"\bpasswords (?:must|are|should) (?:be )?hashed\b",
            r"\bunit tests (?:are|help|document)\b",
            r"\bcaches? (?:invalidation )?(?:is|are) hard\b",
        ),
    ),
)
RECOMMENDED: tuple[tuple[ClaimType, regex.Pattern], ...] = (
    (
        ClaimType.HISTORICAL_CHANGES,
        _any(
            r"\bused to\b",
            r"\bpreviously\b",
            r"\bwas (?:introduced|changed|renamed|added|reverted|broken|rewritten) (?:in|by|with|last)\b",
            r"\bsince (?:commit|release|version|v[0-9])",
            r"\bregress(?:ed|ion) (?:from|since|in)\b",
            r"\blast (?:release|week|month|year)\b",
        ),
    ),
    (
        ClaimType.PERFORMANCE_CHARACTERISTICS,
        _any(
            r"\bO\([^)]{1,20}\)",
            r"\b(?:slow|slower|faster|slowest|quadratic|exponential)\b",
            r"\bn\+1\b",
            r"\blatency\b",
            r"\bthroughput\b",
            r"\btakes [0-9.]+ ?(?:ms|s|seconds|minutes)\b",
            r"\bmemory (?:usage|use|consumption|footprint)\b",
            r"\b[0-9.]+ ?(?:ms|MB|GB) (?:of memory|per (?:request|call))\b",
            r"\bperforms? (?:badly|poorly|well)\b",
        ),
    ),
    (
        ClaimType.ARCHITECTURE_DECISIONS,
        _any(
            r"\b(?:architecture|layering|layers?)\b",
            r"\bcircular (?:import|dependency)\b",
            r"\bbelongs (?:in|to) (?:the|a)\b",
            r"\bcoupl(?:es|ed|ing)\b",
            r"\bseparation of concerns\b",
            r"\bsingle responsibility\b",
            r"\bmonolith",
        ),
    ),
    (
        ClaimType.CODE_PATTERNS,
        _any(
            r"\bduplicat(?:es|ed|ion)\b",
            r"\bcopy[- ]pasted\b",
            r"\bsame (?:code|logic|block) (?:is|as)\b",
            r"\bgod (?:object|class)\b",
            r"\bmagic numbers?\b",
            r"\b(?:dead|unreachable) code\b",
            r"\bnested (?:loops|ifs|callbacks)\b",
            r"\bnaming convention",
        ),
    ),
)
