"""From the third time to a person who is asked to decide, once."""

from tests.journeys.harness import ON_ONE_STORE
from tests.journeys.review_rounds import push, review_and_wait

pytestmark = ON_ONE_STORE


async def test_the_third_time_a_person_is_asked_to_decide_once(journey, pull):
    for text in ("# Second\n", "# Third\n", "# Fourth\n"):
        await review_and_wait(journey, pull, "date_errors")
        push(journey, pull, text)
    escalations = [body for body in journey.comments(pull) if body.startswith("<!-- ESCALATION: ")]
    assert len(escalations) == 1  # row 56
    assert "**Stop: needs a human decision** — `date_errors` keeps coming back, " in escalations[0]
    assert journey.markers(pull)[0]["verdict"] == "escalate"
    await review_and_wait(journey, pull, "date_errors")
    assert len([body for body in journey.comments(pull) if "ESCALATION" in body]) == 1


async def test_nobody_is_asked_to_decide_about_a_persons_pull_request(journey, knowledge):
    pull = journey.github.open_pull_request(knowledge, "dave")
    for text in ("# Second\n", "# Third\n", "# Fourth\n"):
        push(journey, pull, text)
        await review_and_wait(journey, pull, "date_errors")
    assert journey.markers(pull)[0]["verdict"] == "escalate"
    assert [body for body in journey.comments(pull) if "ESCALATION" in body] == []


async def test_an_escalation_whose_answer_was_lost_is_not_posted_twice(journey, pull):
    for text in ("# Second\n", "# Third\n"):
        await review_and_wait(journey, pull, "date_errors")
        push(journey, pull, text)
    journey.github.lose_answer("POST", "*/comments")
    await review_and_wait(journey, pull, "date_errors")
    await journey.github.until(lambda: journey.github.asked("GET", "*/issues/*/comments"))
    await journey.wait_until_idle()
    assert len([body for body in journey.comments(pull) if body.startswith("<!-- ESCALATION: ")]) == 1


async def test_a_merge_closes_the_request_to_decide(journey, pull):
    for text in ("# Second\n", "# Third\n", "# Fourth\n"):
        await review_and_wait(journey, pull, "date_errors")
        push(journey, pull, text)
    await journey.wait_until_idle()
    journey.github.merge(pull, by="alice")
    await journey.wait_until_idle()
    bodies = journey.comments(pull)
    assert not any("ESCALATION" in body for body in bodies)
    assert "No longer open: the pull request was merged.\n" in bodies
    assert journey.markers(pull)[0]["turn"] == "nobody"
