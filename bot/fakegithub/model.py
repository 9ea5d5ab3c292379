"""What every object has, and the JSON of accounts, Apps, repositories and installations; refusals."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, Literal
from urllib.parse import quote

from bot.fakegithub.git import GitObjects

if TYPE_CHECKING:
    from bot.fakegithub.checks import CheckRun, WorkflowRun
    from bot.fakegithub.issues import Issue, IssueComment, Label
    from bot.fakegithub.reviews import ReviewComment
    from bot.fakegithub.world import World

AccountType = Literal["User", "Bot", "Organization"]
Json = dict[str, Any]


def node_id(prefix: str, number: int) -> str:
    """A GraphQL id in the form GitHub gives them."""
    return f"{prefix}_{base64.urlsafe_b64encode(number.to_bytes(8, 'big')).decode().rstrip('=')}"


def show(value: Any) -> Any:
    """A value as GitHub's JSON has it."""
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%SZ")
    if isinstance(value, Node):
        return value.json
    if isinstance(value, Mapping):
        return dict(value)
    return [show(item) for item in value] if isinstance(value, list | tuple) else value


def fields(thing: object, names: str) -> Json:
    """These attributes under their own names."""
    return {name: show(getattr(thing, name)) for name in names.split()}


def addresses(url: str, names: str) -> Json:
    """The addresses below another one: `commits_url` for `commits`."""
    return {f"{name.partition('{')[0]}_url": f"{url}/{name}" for name in names.split()}


def same(value: Any, names: str) -> Json:
    """The same value under all these names."""
    return dict.fromkeys(names.split(), show(value))


@dataclass(slots=True, eq=False)
class Node:
    """Something with an id; each class describes its addresses, and how GitHub shows it as JSON."""

    prefix: ClassVar[str] = ""
    """The first letters of the GraphQL id."""
    api: ClassVar[str] = ""
    page: ClassVar[str] = ""
    shown: ClassVar[str] = ""
    """The attributes that are shown under their own names."""
    below: ClassVar[str] = ""
    """What has an address below the object's own."""
    fixed: ClassVar[Json] = {}
    """What is always the same."""

    world: World
    id: int = field(init=False)
    created_at: datetime = field(init=False)

    def __post_init__(self) -> None:
        self.id, self.created_at = self.world.new_id(), self.world.now()

    @property
    def node_id(self) -> str:
        """The GraphQL id."""
        return node_id(self.prefix, self.id)

    @property
    def url(self) -> str:
        """The address in the API."""
        return self.api.format(self)

    @property
    def html_url(self) -> str:
        """The address for people."""
        return self.page.format(self)

    @property
    def json(self) -> Any:
        """The object as GitHub's answers and payloads have it."""
        return fields(self, self.shown) | addresses(self.url, self.below) | self.fixed | self._more()

    def _more(self) -> Json:
        return {}


@dataclass(slots=True, eq=False)
class Account(Node):
    """A person, a bot or an organisation."""

    api = "{0.world.api_url}/users/{0.path}"
    shown = "login id node_id type avatar_url url"
    below = (
        "followers following{/other_user} gists{/gist_id} starred{/owner}{/repo} subscriptions repos"
        " events{/privacy} received_events"
    )
    fixed: ClassVar[Json] = {"gravatar_id": "", "user_view_type": "public", "site_admin": False}
    login: str
    type: AccountType
    deleted: bool = False

    @property
    def node_id(self) -> str:
        """The account's GraphQL id."""
        return node_id({"User": "U", "Bot": "BOT", "Organization": "O"}[self.type], self.id)

    @property
    def path(self) -> str:
        """The login as a part of an address."""
        return quote(self.login)

    @property
    def avatar_url(self) -> str:
        """Where the account's picture is."""
        return f"https://avatars.githubusercontent.com/u/{self.id}?v=4"

    @property
    def json(self) -> Any:
        """The account in short; null once it was deleted."""
        return None if self.deleted else super(Account, self).json

    def _more(self) -> Json:
        page = f"apps/{self.login.removesuffix('[bot]')}" if self.type == "Bot" else self.path
        return {"html_url": f"{self.world.web_url}/{page}", "organizations_url": f"{self.url}/orgs"}

    @property
    def or_ghost(self) -> Json:
        """The account in short; once it was deleted, the one that GitHub shows in its place."""
        account = copy(self)
        if self.deleted:
            account.id, account.login, account.type, account.deleted = 10137, "ghost", "User", False
        return dict(account.json)

    @property
    def in_full(self) -> Json:
        """The account as everybody sees it on its own."""
        return (
            self.or_ghost
            | same(None, "name company location email hireable bio twitter_username")
            | same(0, "public_repos public_gists followers following")
            | same(self.created_at, "created_at updated_at")
            | {"blog": ""}
        )

    @property
    def as_organization(self) -> Json:
        """An organisation as webhooks name it."""
        url = f"{self.world.api_url}/orgs/{self.login}"
        below = "repos events hooks issues members{/member} public_members{/member}"
        own = {"url": url, "description": None}
        return fields(self, "login id node_id avatar_url") | addresses(url, below) | own


@dataclass(slots=True, eq=False)
class App(Node):
    """A GitHub App and its bot account."""

    prefix = "A"
    page = "{0.world.web_url}/apps/{0.slug}"
    shown = "id slug node_id name created_at html_url permissions events"
    fixed: ClassVar[Json] = {"description": None}
    slug: str
    name: str
    owner: Account
    bot: Account
    public_pem: str | None
    permissions: Mapping[str, str]
    events: tuple[str, ...]

    def _more(self) -> Json:
        return {
            "owner": self.owner.or_ghost,
            "external_url": f"https://{self.slug}.example",
            "updated_at": show(self.created_at),
        }


Role = Literal["read", "triage", "write", "maintain", "admin"]

ROLES: tuple[Role, ...] = ("read", "triage", "write", "maintain", "admin")

_BELOW_REPOSITORY = (
    "assignees{/user} branches{/branch} collaborators{/collaborator} comments{/number} commits{/sha}"
    " contributors deployments downloads events forks hooks issues{/number} keys{/key_id} labels{/name}"
    " languages merges milestones{/number} notifications{?since,all,participating} pulls{/number}"
    " releases{/id} stargazers subscribers subscription tags teams"
)
_NAMED_OTHERWISE = {
    "archive_url": "/{archive_format}{/ref}",
    "blobs_url": "/git/blobs{/sha}",
    "compare_url": "/compare/{base}...{head}",
    "contents_url": "/contents/{+path}",
    "git_commits_url": "/git/commits{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "issue_comment_url": "/issues/comments{/number}",
    "issue_events_url": "/issues/events{/number}",
    "statuses_url": "/statuses/{sha}",
    "trees_url": "/git/trees{/sha}",
}
_ALIKE_EVERYWHERE = (
    same(None, "description homepage language license mirror_url")
    | same(0, "forks forks_count stargazers_count watchers watchers_count")
    | dict.fromkeys(("disabled", "is_template", "web_commit_signoff_required"), False)
    | dict.fromkeys(("has_projects", "has_wiki", "has_pages", "has_discussions"), False)
    | {"allow_forking": True, "topics": [], "size": 12, "has_issues": True, "has_downloads": True}
)


@dataclass(slots=True, eq=False)
class Repository(Node):
    """A repository with its branches, people and threads."""

    prefix = "R"
    api = "{0.world.api_url}/repos/{0.full_name}"
    page = "{0.world.web_url}/{0.full_name}"
    shown = "id node_id name full_name private archived default_branch url html_url"
    below = _BELOW_REPOSITORY
    fixed: ClassVar[Json] = _ALIKE_EVERYWHERE
    owner: Account
    name: str
    private: bool
    default_branch: str = "main"
    archived: bool = False
    fork_of: Repository | None = None
    objects: GitObjects = field(default_factory=GitObjects)
    branches: dict[str, str] = field(default_factory=dict)
    collaborators: dict[int, Role] = field(default_factory=dict)  # by account id
    labels: dict[str, Label] = field(default_factory=dict)
    threads: dict[int, Issue] = field(default_factory=dict)  # issues and pull requests by number
    comments: dict[int, IssueComment] = field(default_factory=dict)
    review_comments: dict[int, ReviewComment] = field(default_factory=dict)
    check_runs: dict[int, CheckRun] = field(default_factory=dict)
    workflow_runs: dict[int, WorkflowRun] = field(default_factory=dict)
    truncate_trees: bool = False

    @property
    def full_name(self) -> str:
        """Owner and name, as in a URL."""
        return f"{self.owner.login}/{self.name}"

    def role(self, account: Account | None) -> Role | None:
        """The role that an account has here; None for a stranger to a private repository."""
        given = "admin" if account is self.owner else self.collaborators.get(account.id if account else 0)
        return given or (None if self.private else "read")

    def association(self, account: Account) -> str:
        """How an account belongs to the repository, in GitHub's word."""
        if account is self.owner:
            return "OWNER"
        if account.id in self.collaborators:
            return "MEMBER" if self.owner.type == "Organization" else "COLLABORATOR"
        return "NONE"

    @property
    def in_short(self) -> Json:
        """The repository as an installation lists it."""
        return fields(self, "id node_id name full_name private")

    def _more(self) -> Json:
        open_issues = sum(thread.state == "open" for thread in self.threads.values())
        host = self.world.web_url.partition("://")[2]
        return {
            **{key: self.url + path for key, path in _NAMED_OTHERWISE.items()},
            **same(open_issues, "open_issues open_issues_count"),
            **same(self.created_at, "created_at updated_at pushed_at"),
            "owner": self.owner.or_ghost,
            "fork": self.fork_of is not None,
            "visibility": "private" if self.private else "public",
            "git_url": f"git://{host}/{self.full_name}.git",
            "ssh_url": f"git@{host}:{self.full_name}.git",
            "clone_url": f"{self.html_url}.git",
            "svn_url": self.html_url,
        }


@dataclass(slots=True, eq=False)
class Installation(Node):
    """The App on one account, with what it was granted."""

    prefix = "MDIz"
    api = "{0.world.api_url}/app/installations/{0.id}"
    page = "{0.world.web_url}/settings/installations/{0.id}"
    shown = "id created_at suspended_at suspended_by html_url permissions events"
    fixed: ClassVar[Json] = {"repository_selection": "selected", "single_file_name": None}
    app: App
    account: Account
    permissions: dict[str, str]
    events: tuple[str, ...]
    repositories: list[Repository] = field(default_factory=list)
    suspended_at: datetime | None = None
    suspended_by: Account | None = None
    deleted: bool = False

    def _more(self) -> Json:
        return {
            "account": self.account.or_ghost,
            "access_tokens_url": f"{self.url}/access_tokens",
            "repositories_url": f"{self.world.api_url}/installation/repositories",
            "app_id": self.app.id,
            "app_slug": self.app.slug,
            "target_id": self.account.id,
            "target_type": self.account.type,
            "updated_at": show(self.created_at),
        }


class ApiRefusal(Exception):
    """An answer that is an error, in GitHub's words."""

    def __init__(
        self, status: int, message: str, *, errors: Any = None, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(f"{status} {message}")
        self.status = status
        self.message = message
        self.errors = errors
        self.headers = dict(headers or {})


def not_found_refusal() -> ApiRefusal:
    """It is not there, or the caller may not know that it is."""
    return ApiRefusal(404, "Not Found")


def forbidden_refusal() -> ApiRefusal:
    """The App was not granted the permission for this."""
    return ApiRefusal(403, "Resource not accessible by integration")


def invalid_refusal(resource: str, field: str, code: str = "invalid", **more: Any) -> ApiRefusal:
    """A field has a value that GitHub does not take."""
    error = {"resource": resource, "field": field, "code": code} | more
    return ApiRefusal(422, "Validation Failed", errors=[error])
