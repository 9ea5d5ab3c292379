"""What is stored comes back, also when several threads read at once from the first moment."""

import subprocess
import sys

_FIRST_LOOK = """
from bot.store.codec import STORED_EFFECTS
from bot.pull_request.model import PullRequest
print([kind.__name__ for kind in (PullRequest, *STORED_EFFECTS.values()) if not hasattr(kind, "__msgspec_cache__")])
"""


def test_every_kind_is_known_before_two_threads_could_meet_it_at_once():
    # msgspec crashes the process where two threads look at a class for the first time together.
    run = subprocess.run(  # noqa: S603  our own modules
        [sys.executable, "-c", _FIRST_LOOK], capture_output=True, check=True, text=True, timeout=120
    )
    assert run.stdout == "[]\n"
