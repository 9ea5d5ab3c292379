import pytest


async def test_a_living_process_says_so(github):
    answer = await github.ask("/healthz")
    assert (answer.status, answer.content) == (200, {"status": "ok"})


async def test_a_process_that_can_work_is_ready(github):
    answer = await github.ask("/readyz")
    assert (answer.status, answer.content) == (200, {"status": "ready", "store": True})


async def test_a_process_that_can_not_work_says_what_is_missing(github, probe):
    probe.is_ready = False
    answer = await github.ask("/readyz")
    assert (answer.status, answer.content) == (503, {"status": "not ready", "store": False})


async def test_an_unknown_address_is_a_problem(github):
    answer = await github.ask("/nothing")
    assert (answer.status, answer.content_type, answer.content) == (
        404,
        "application/problem+json",
        {"title": "Not Found", "status": 404, "detail": "There is no such page."},
    )


async def test_a_wrong_method_is_a_problem_that_names_the_right_one(github):
    answer = await github.ask("/webhook")
    assert (answer.status, answer.content_type, answer.headers["Allow"]) == (
        405,
        "application/problem+json",
        "POST",
    )


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
async def test_a_probe_may_ask_for_the_head_only(github, path):
    assert (await github.ask(path, method="HEAD")).status == 200
