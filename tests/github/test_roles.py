import pytest

from bot.github.payloads import parse_role
from bot.values import Account

ALICE = Account(11, "alice")


def answer(**facts):
    user = {"id": 11, "login": "alice"} | ({"permissions": facts.pop("flags")} if "flags" in facts else {})
    return {"user": user, **facts}


@pytest.mark.parametrize(
    ("told", "meant"),
    [
        (answer(permission="write", role_name="maintain"), "maintain"),
        (answer(permission="read", role_name="triage", flags={"pull": True, "triage": False}), "triage"),
        (answer(permission="write", role_name="release-team", flags={"pull": True, "push": True}), "write"),
        (answer(permission="read", role_name="sorter", flags={"pull": True, "triage": True}), "triage"),
        (answer(permission="admin"), "admin"),
        (answer(permission="none", role_name="none", flags={"pull": False}), None),
        (answer(permission="write", role_name=None, flags="odd"), "write"),
        ({"permission": "write"}, "write"),
        ({"permission": "write", "user": None}, "write"),
        ({"permission": "write", "user": {"id": 12}}, None),
        ([], None),
        (None, None),
    ],
)
def test_a_role_is_told_by_its_name_then_by_its_flags_then_coarsely(told, meant):
    assert parse_role(told, ALICE) == meant
