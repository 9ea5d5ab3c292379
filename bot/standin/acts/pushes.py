"""How is a branch that moved told of?"""

from __future__ import annotations

from bot.standin.acts.base import Acts
from bot.standin.git import Commit
from bot.standin.model import Account, Repository


class PushActs(Acts):
    """The event of every push."""

    def emit_push(self, where: Repository, branch: str, before: str | None, after: str, who: Account) -> None:
        """Tell of a branch that moved."""
        page = f"{self.web_url}/{where.full_name}"
        objects = where.objects
        forced = before is not None and before not in set(objects.ancestors(after))
        commits = objects.between(before, after) if before is not None else (objects.commits[after],)
        written = [self._pushed(where, each, who) for each in commits]
        payload = {
            "ref": f"refs/heads/{branch}",
            "before": before or "0" * 40,
            "after": after,
            "created": before is None,
            "deleted": False,
            "forced": forced,
            "base_ref": None,
            "compare": f"{page}/compare/{before or '0' * 12}...{after}",
            "commits": written,
            "head_commit": self._pushed(where, objects.commits[after], who),
            "pusher": {"name": who.login, "email": f"{who.login}@users.noreply.github.com"},
        }
        self.emit("push", where, who, payload)

    def _pushed(self, where: Repository, commit: Commit, who: Account) -> dict[str, object]:
        before = where.objects.commits[commit.parents[0]].files if commit.parents else {}
        person = {"name": who.login, "email": f"{who.login}@users.noreply.github.com", "username": who.login}
        return {
            "id": commit.sha,
            "tree_id": commit.tree_sha,
            "distinct": True,
            "message": commit.message,
            "timestamp": commit.at.isoformat(),
            "url": f"{self.web_url}/{where.full_name}/commit/{commit.sha}",
            "author": person,
            "committer": person,
            "added": sorted(commit.files.keys() - before.keys()),
            "removed": sorted(before.keys() - commit.files.keys()),
            "modified": sorted(
                p for p in commit.files.keys() & before.keys() if commit.files[p] != before[p]
            ),
        }
