import pytest

from bot.web.webhook import is_own_event

APP = 4242
BOT = {"id": 900, "type": "Bot"}
ALICE = {"id": 1, "type": "User"}


def comment(action="created", author=BOT, sender=BOT, app=APP):
    via = {"performed_via_github_app": {"id": app}} if app else {}
    return {"action": action, "comment": {"user": author, **via}, "issue": {}, "sender": sender}


@pytest.mark.parametrize("action", ["created", "edited"])
def test_what_the_bot_wrote_itself_says_nothing_new(action):
    assert is_own_event(comment(action), APP)


@pytest.mark.parametrize(
    "payload",
    [
        comment("deleted", sender=ALICE),
        comment("edited", sender=ALICE),
        comment(author=ALICE, sender=ALICE, app=None),
        comment(app=7),
        {"action": "created"},
        {"action": ["created"]},
        {"action": "created", "comment": None, "sender": None},
    ],
)
def test_what_others_write_or_do_to_our_comment_is_news(payload):
    assert not is_own_event(payload, APP)


def test_our_own_check_run_is_an_echo_and_anothers_is_not():
    assert is_own_event({"action": "completed", "check_run": {"app": {"id": APP}}}, APP)
    assert not is_own_event({"action": "completed", "check_run": {"app": {"id": 7}}}, APP)
