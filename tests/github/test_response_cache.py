from bot.github.errors import HttpAnswer
from bot.github.transport import response_cache


def test_what_is_remembered_of_github_stays_within_its_bytes():
    memory = response_cache(limit=100_000)
    for number in range(50):
        memory[1, f"/page/{number}", "json"] = HttpAnswer(200, {"etag": str(number)}, b"x" * 8_000)
    assert memory.currsize <= 100_000
    assert ((1, "/page/0", "json") in memory, (1, "/page/49", "json") in memory) == (False, True)
