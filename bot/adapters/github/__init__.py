"""GitHub's API as the bot needs it; the only place that knows gidgethub."""

from bot.adapters.github.app_key import AppKey
from bot.adapters.github.client import GitHubClient, connect

__all__ = ["AppKey", "GitHubClient", "connect"]
