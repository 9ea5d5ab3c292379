"""A small local GitHub for the demo and the tests: stateful, over real HTTP, with signed webhooks.

keys = new_key_pair()
async with Standin(AppFacts(public_pem=keys.public_pem), webhook_url=url) as github:
    repository = github.repository("acme/kb", collaborators={"alice": "write"})
    pull = github.open_pull_request(repository, "bob")
    github.submit_review(pull, "alice", "CHANGES_REQUESTED", "[date_errors] Year is wrong.")
    await github.until(lambda: github.comments_of(pull))
"""

from bot.standin.acts.checks import Output
from bot.standin.acts.pulls import Opening
from bot.standin.acts.reviews import Inline
from bot.standin.deliveries import Delivery
from bot.standin.exchange import Exchange
from bot.standin.git import Submodule, Symlink
from bot.standin.keys import KeyPair, new_key_pair
from bot.standin.model import Annotation
from bot.standin.server import Standin
from bot.standin.world import AppFacts

__all__ = [
    "Annotation",
    "AppFacts",
    "Delivery",
    "Exchange",
    "Inline",
    "KeyPair",
    "Opening",
    "Output",
    "Standin",
    "Submodule",
    "Symlink",
    "new_key_pair",
]
