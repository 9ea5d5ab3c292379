"""Build links to files, commits and pull requests that create no cross-references."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from bot.markdown.escape import code_span
from bot.values import Location, Repository

FEEDBACK_SCHEMA_ID = "https://aiwg.io/schemas/actionable-feedback/v1"


GITHUB_URL = "https://github.com"
REDIRECT_HOST = "https://redirect.github.com"
"""GitHub follows it like its own address, and writes no "mentioned this" into the other thread."""

_LABEL = 200  # a longer path is cut in the text; the link still has all of it


def short_sha(sha: str) -> str:
    """Return the first seven characters of a commit's hash."""
    return sha[:7]


def format_login(login: str) -> str:
    """Format a login as code, so that it notifies nobody."""
    return code_span(login)


@dataclass(frozen=True, slots=True)
class GitHubLinks:
    """The pages of one GitHub, as Markdown."""

    host_url: str = GITHUB_URL

    def blob(self, repository: Repository, sha: str, place: Location) -> str:
        """`[path:5](…#L5)`, direct: a file of this repository has no thread."""
        label = code_span(str(place), _LABEL)
        if not _is_inside(place.path):
            return label
        return f"[{label}]({self.blob_url(repository, sha, place)})"

    def blob_url(self, repository: Repository, sha: str, place: Location) -> str:
        """The address of a file, or of lines of it, at a revision or on a branch."""
        return f"{self._home(repository)}/blob/{_quoted(sha)}/{_quoted(place.path)}{_lines(place)}"

    def guide_url(self, repository: Repository, guide: str) -> str:
        """The address of a page of the default branch, or of a heading on it."""
        path, _, heading = guide.partition("#")
        address = self.blob_url(repository, repository.default_branch, Location(path))
        return f"{address}#{heading}" if heading else address

    def pull_url(self, repository: Repository, number: int) -> str:
        """The address of a pull request's own page, for machines: in a text it would be a mention."""
        return f"{self._home(repository)}/pull/{number}"

    def commit(self, repository: Repository, sha: str) -> str:
        """A commit of the pull request that this is about, direct."""
        return f"[{_sha(sha)}]({self._home(repository)}/commit/{_quoted(sha)})"

    def other_pull(self, repository: Repository, number: int) -> str:
        """Another pull request, by its bare number: `#7` would write into its thread."""
        if not self._redirects:
            return f"`{number}`"
        return f"[{number}]({REDIRECT_HOST}/{_path(repository)}/pull/{number})"

    def other_commit(self, repository: Repository, sha: str) -> str:
        """A commit of another pull request or iteration."""
        if not self._redirects:
            return _sha(sha)
        return f"[{_sha(sha)}]({REDIRECT_HOST}/{_path(repository)}/commit/{_quoted(sha)})"

    def compare(self, repository: Repository, before: str, after: str, label: str) -> str:
        """What changed between two revisions; the label is our own words."""
        span = f"{short_sha(before)}..{short_sha(after)}"
        if not self._redirects:
            return f"{label} ({code_span(span)})"
        return f"[{label}]({REDIRECT_HOST}/{_path(repository)}/compare/{_quoted(span)})"

    @property
    def _redirects(self) -> bool:
        """Only github.com has the other host name."""
        return self.host_url.rstrip("/").casefold() == GITHUB_URL

    def _home(self, repository: Repository) -> str:
        return f"{self.host_url.rstrip('/')}/{_path(repository)}"


def _path(repository: Repository) -> str:
    return f"{_quoted(repository.owner)}/{_quoted(repository.name)}"


def _quoted(text: str) -> str:
    return quote(text, safe="/", errors="replace")


def _sha(sha: str) -> str:
    return code_span(short_sha(sha))


def _lines(place: Location) -> str:
    if place.line is None:
        return ""
    if place.end_line is None or place.end_line == place.line:
        return f"#L{place.line}"
    return f"#L{place.line}-L{place.end_line}"


def _is_inside(path: str) -> bool:
    """Whether a browser that resolves `..` stays in the revision's tree."""
    return bool(path) and not any(part in {"", ".", ".."} for part in path.split("/"))


@dataclass(frozen=True, slots=True)
class LinkContext:
    """Where links lead: GitHub's web address, the schemas' and the bot's own."""

    web: GitHubLinks
    schema: str = FEEDBACK_SCHEMA_ID
    public_url: str | None = None
    """The bot's own address, where it is known."""
