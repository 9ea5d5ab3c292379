"""Has the setting this value, and is this the version that a manifest asks for?"""

from __future__ import annotations

from dataclasses import replace

from bot.domain import regex
from bot.domain.grounding.claim import Claim
from bot.domain.grounding.config_values import plain, values
from bot.domain.grounding.locate import text_of
from bot.domain.grounding.manifests import Versions, exact, folded, is_manifest, versions
from bot.domain.grounding.observations import Observations, Text
from bot.domain.grounding.result import Outcome, Result, Tool, contradicted, unverifiable, verified


def setting(claim: Claim, seen: Observations) -> Result:  # noqa: PLR0911  one answer a case
    """Whether the file gives the key this value."""
    found = text_of(claim.path or "", seen)
    if isinstance(found, Result):
        return found
    path, text = found
    if not claim.subject:
        return unverifiable("the key is not named", Tool.CONTENTS, path)
    known = values(path, text.lines, claim.subject)
    if len(known) > 1:
        return unverifiable(f"the key has {len(known)} values", Tool.CONTENTS, path)
    if not known:
        leaf = claim.subject.rsplit(".", 1)[-1]
        if any(leaf in line for line in text.lines):
            return unverifiable("the key is there, its value could not be read", Tool.CONTENTS, path)
        return contradicted(Tool.CONTENTS, "the file has no such key", path=path)
    same = known[0] == plain(claim.value)
    if same == claim.holds:
        return verified(Tool.CONTENTS, path)
    shown = (
        "the value is another one" if _PRIVATE.search(claim.subject) else f"the value is `{known[0][:80]}`"
    )
    return contradicted(Tool.CONTENTS, shown, path=path)


# A value under such a key is not repeated, whatever file it stands in.
_PRIVATE = regex.Pattern(r"pass|secret|token|key|credential|auth|private|dsn", ignore_case=True)


def dependency(claim: Claim, seen: Observations) -> Result:
    """Whether a manifest asks for the package, and for this version of it."""
    if claim.path:
        found = text_of(claim.path, seen)
        if isinstance(found, Result):
            return found
        return _in_one(claim, found[0], versions(found[0], "\n".join(found[1].lines)))
    read = {path: text for path, text in seen.files.items() if is_manifest(path) and isinstance(text, Text)}
    if not read:
        return unverifiable("no manifest was read", Tool.TREE if seen.tree else None)
    results = [_in_one(claim, path, versions(path, "\n".join(text.lines))) for path, text in read.items()]
    naming = [result for result in results if not result.note.startswith(_NOT_NAMED)]
    if naming:
        decided = [each for each in naming if each.outcome is not Outcome.UNVERIFIABLE] or naming
        same = {each.outcome for each in decided}
        return decided[0] if len(same) == 1 else unverifiable("the manifests differ", Tool.CONTENTS)
    return _nowhere(claim, seen, results[0])


_NOT_NAMED = "the manifest does not name "


def _in_one(claim: Claim, path: str, known: Versions | None) -> Result:
    if known is None:
        return unverifiable("the manifest could not be read", Tool.CONTENTS, path)
    wanted = known.get(folded(claim.subject))
    if wanted is None:
        result = verified(Tool.CONTENTS, path) if not claim.holds and not claim.value else None
        return replace(
            result or contradicted(Tool.CONTENTS, "", path=path), note=f"{_NOT_NAMED}`{claim.subject}`"
        )
    if not claim.value:
        if claim.holds:
            return verified(Tool.CONTENTS, path)
        return contradicted(Tool.CONTENTS, f"the manifest names `{claim.subject}`", path=path)
    return _version(claim, path, wanted)


def _version(claim: Claim, path: str, wanted: frozenset[str]) -> Result:
    if len(wanted) > 1:
        return unverifiable(f"the manifest has several versions of `{claim.subject}`", Tool.CONTENTS, path)
    (written,) = wanted
    said = claim.value.strip()
    pinned, meant = exact(written), exact(said)
    if written == said or (pinned and meant and _same(pinned, meant)):
        same = True
    elif pinned and meant:
        same = False
    else:
        return unverifiable(
            f"the manifest asks for `{claim.subject} {written or 'in any version'}`", Tool.CONTENTS, path
        )
    if same == claim.holds:
        return verified(Tool.CONTENTS, path)
    return contradicted(Tool.CONTENTS, f"the manifest asks for `{claim.subject} {written}`", path=path)


def _same(one: str, other: str) -> bool:
    short, long = sorted((one.removeprefix("v"), other.removeprefix("v")), key=len)
    return long == short or (long.startswith(short + ".") and set(long[len(short) :]) <= {".", "0"})


def _nowhere(claim: Claim, seen: Observations, first: Result) -> Result:
    """Nothing names the package: certain only where every manifest was read."""
    listed = [path for path in (seen.tree.entries if seen.tree else ()) if is_manifest(path)]
    complete = seen.tree is not None and not seen.tree.truncated
    if complete and all(isinstance(seen.files.get(path), Text) for path in listed):
        return first
    what = f"no manifest that was read names `{claim.subject}`"
    return unverifiable(what, Tool.CONTENTS) if claim.holds or first.outcome else first
