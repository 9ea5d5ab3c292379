"""What a reviewer says behind a long paste is read."""

import pytest

from bot import wiring
from bot.domain.detection import FeedbackType, detect

YAML = "".join(f"{' ' * 16}key{number}: value\n" for number in range(60))
TABS = "".join(f"\t\tline {number}\n" for number in range(40))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (f"With this:\n```yaml\n{YAML}```\nThe tests fail, and the build is broken.", "verification_failure"),
        (f"{TABS}\nIt crashes with KeyError in parse().", "runtime_error"),
    ],
)
def test_words_behind_what_was_pasted_are_heard(text, kind):
    assert detect(text, wiring.detection_rules()).type is FeedbackType(kind)
