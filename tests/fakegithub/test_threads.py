from __future__ import annotations

import pytest

from bot.fakegithub.pulls import PullRequestOptions
from bot.fakegithub.reviews import InlineDraft

REPO = "/repos/acme/kb"
COMMENTS = f"{REPO}/issues/1/comments"


async def test_the_bots_comment_is_by_the_app(bot, fake_github, pull):
    made = (await bot("POST", COMMENTS, json={"body": "Rejected"})).body
    assert (made["user"]["login"], made["user"]["type"]) == ("whetstone[bot]", "Bot")
    assert made["performed_via_github_app"]["id"] == fake_github.app.id
    mine = (await bot("GET", "/users/whetstone[bot]")).body
    assert mine["id"] == made["user"]["id"]
    assert [each.body for each in fake_github.comments_of(pull)] == ["Rejected"]


async def test_comments_come_in_pages_that_lead_to_each_other(bot, fake_github, pull):
    for number in range(5):
        fake_github.comment(pull, "bob", f"Comment {number}")
    seen, url = [], f"{fake_github.api_url}{COMMENTS}?per_page=2"
    while url:
        answer = await bot("GET", url)
        seen.append([each["body"] for each in answer.body])
        links = dict(
            reversed(part.strip().split("; ")) for part in answer.headers.get("Link", "").split(",") if part
        )
        url = links.get('rel="next"', "").strip("<>")
    assert seen == [["Comment 0", "Comment 1"], ["Comment 2", "Comment 3"], ["Comment 4"]]


async def test_since_looks_at_the_last_change(bot, fake_github, clock, pull):
    old = fake_github.comment(pull, "bob", "Old")
    clock.advance(minutes=1)
    fake_github.comment(pull, "bob", "New")
    since = {"since": "2026-11-16T09:01:00Z"}
    assert [each["body"] for each in (await bot("GET", COMMENTS, params=since)).body] == ["New"]
    fake_github.edit_comment(old, "Old, edited")
    found = (await bot("GET", COMMENTS, params=since)).body
    assert [each["body"] for each in found] == ["Old, edited", "New"]


async def test_a_locked_conversation_takes_no_comment(bot, fake_github, pull):
    fake_github.lock(pull)
    refused = await bot("POST", COMMENTS, json={"body": "Rejected"})
    assert refused.status == 403
    assert "locked" in refused.body["message"]


async def test_an_archived_repository_takes_nothing_but_tells(bot, fake_github, pull):
    fake_github.archive(pull.repository)
    assert (await bot("POST", COMMENTS, json={"body": "Rejected"})).status == 403
    assert (await bot("GET", f"{REPO}/pulls/1")).status == 200


@pytest.mark.parametrize("body", ["", "x" * 65_537])
async def test_a_comment_must_not_be_blank_or_too_long(bot, pull, body):
    refused = await bot("POST", f"{REPO}/issues/{pull.number}/comments", json={"body": body})
    assert (refused.status, refused.body["message"]) == (422, "Validation Failed")


async def test_a_deleted_comment_is_gone(bot, fake_github, pull):
    made = fake_github.comment(pull, "whetstone[bot]", "Rejected")
    fake_github.delete_comment(made, by="alice")
    gone = await bot("PATCH", f"{REPO}/issues/comments/{made.id}", json={"body": "Rejected again"})
    assert gone.status == 404


async def test_a_comment_is_minimised_over_graphql(bot, fake_github, pull):
    made = fake_github.comment(pull, "whetstone[bot]", "Superseded")
    mutation = """
        mutation($id: ID!) {
          minimizeComment(input: {subjectId: $id, classifier: OUTDATED}) {
            minimizedComment { isMinimized minimizedReason }
          }
        }"""
    asked = {"query": mutation, "variables": {"id": made.node_id}}
    answer = await bot("POST", fake_github.graphql_url, json=asked)
    shown = {"isMinimized": True, "minimizedReason": "outdated"}
    assert answer.body["data"]["minimizeComment"]["minimizedComment"] == shown
    assert made.minimized == "outdated"


async def test_graphql_says_what_is_wrong_with_a_200(bot, fake_github):
    mutation = (
        'mutation { minimizeComment(input: {subjectId: "IC_x", classifier: OUTDATED}) { clientMutationId } }'
    )
    answer = await bot("POST", fake_github.graphql_url, json={"query": mutation})
    assert (answer.status, answer.body["errors"][0]["type"]) == (200, "NOT_FOUND")


async def test_reacting_twice_is_reacting_once(bot, fake_github, pull):
    made = fake_github.comment(pull, "bob", "/feedback-history")
    path = f"{REPO}/issues/comments/{made.id}/reactions"
    statuses = [(await bot("POST", path, json={"content": "eyes"})).status for _ in range(2)]
    assert (statuses, len(made.reactions)) == ([201, 200], 1)


async def test_issues_are_found_by_label_and_creator(bot, fake_github, pull):
    made = (await bot("POST", f"{REPO}/issues", json={"title": "Week 46", "labels": ["weekly"]})).body
    fake_github.open_issue(pull.repository, "bob", "Another")
    query = {"labels": "weekly", "creator": "whetstone[bot]", "state": "all"}
    found = (await bot("GET", f"{REPO}/issues", params=query)).body
    assert [each["number"] for each in found] == [made["number"]]


async def test_a_pending_review_is_seen_by_its_author_only(bot, caller, fake_github, pull):
    review = fake_github.submit_review(pull, "alice", "PENDING", "Not yet")
    alice = caller(fake_github.user_token("alice"))
    assert (await bot("GET", f"{REPO}/pulls/1/reviews")).body == []
    assert [each["state"] for each in (await alice("GET", f"{REPO}/pulls/1/reviews")).body] == ["PENDING"]
    fake_github.submit_pending(review, "APPROVED")
    assert [each["state"] for each in (await bot("GET", f"{REPO}/pulls/1/reviews")).body] == ["APPROVED"]


async def test_a_review_says_which_head_it_saw(bot, fake_github, pull):
    first = pull.head_sha
    review = fake_github.submit_review(pull, "alice", "CHANGES_REQUESTED", "[date_errors]")
    fake_github.push(pull, {"claims/first.md": "# Another\n"})
    fake_github.dismiss_review(review, by="carol")
    found = (await bot("GET", f"{REPO}/pulls/1/reviews")).body
    assert [(each["state"], each["commit_id"]) for each in found] == [("DISMISSED", first)]


async def test_an_inline_comment_outside_the_diff_is_refused(bot, pull):
    comment = {"path": "claims/first.md", "line": 99, "body": "Here"}
    asked = {"event": "COMMENT", "body": "Hm", "comments": [comment]}
    refused = await bot("POST", f"{REPO}/pulls/{pull.number}/reviews", json=asked)
    assert refused.status == 422
    assert refused.body["errors"] == ["Line could not be resolved"]


async def test_an_inline_comment_keeps_its_place_or_becomes_outdated(bot, fake_github, pull):
    inline = [
        InlineDraft("claims/first.md", "Which?", 1),
        InlineDraft("claims/first.md", "When?", 3, start_line=2),
    ]
    fake_github.submit_review(pull, "alice", "COMMENTED", "", inline)
    fake_github.push(pull, {"claims/first.md": "# A claim\n\nIt held in 2024.\n"})
    found = (await bot("GET", f"{REPO}/pulls/1/comments")).body
    assert [(each["line"], each["original_line"], each["start_line"]) for each in found] == [
        (1, 1, None),
        (None, 3, None),
    ]
    assert found[0]["diff_hunk"] == "@@ -0,0 +1,3 @@\n+# A claim"


async def test_inline_comments_can_be_sorted(bot, fake_github, clock, pull):
    for line in (1, 2):
        fake_github.submit_review(
            pull, "alice", "COMMENTED", "", [InlineDraft("claims/first.md", f"{line}", line)]
        )
        clock.advance(minutes=1)
    query = {"sort": "created", "direction": "desc", "since": "2026-11-16T09:00:30Z"}
    assert [each["body"] for each in (await bot("GET", f"{REPO}/pulls/1/comments", params=query)).body] == [
        "2"
    ]


async def test_a_reply_belongs_to_the_first_comment_of_its_thread(bot, fake_github, pull):
    review = fake_github.submit_review(
        pull, "alice", "COMMENTED", "", [InlineDraft("claims/first.md", "Which?", 1)]
    )
    first = review.comments[0]
    path = f"{REPO}/pulls/1/comments/{first.id}/replies"
    made = (await bot("POST", path, json={"body": "The second."})).body
    assert (made["in_reply_to_id"], made["user"]["login"]) == (first.id, "whetstone[bot]")


async def test_a_deleted_accounts_words_stay_without_a_user(bot, fake_github, pull):
    fake_github.comment(pull, "dora", "Bye")
    fake_github.submit_review(pull, "dora", "CHANGES_REQUESTED", "Bye")
    fake_github.delete_account("dora")
    fake_github.delete_account("bob")
    assert (await bot("GET", COMMENTS)).body[0]["user"] is None
    assert (await bot("GET", f"{REPO}/pulls/1/reviews")).body[0]["user"] is None
    assert (await bot("GET", f"{REPO}/pulls/1")).body["user"]["login"] == "ghost"
    assert (await bot("GET", "/users/dora")).status == 404


async def test_a_renamed_repository_leads_on(bot, fake_github, pull):
    fake_github.rename_repository(pull.repository, "wiki")
    moved = await bot("GET", f"{REPO}/pulls/1")
    assert moved.status == 301
    assert moved.headers["Location"] == f"{fake_github.api_url}/repositories/{pull.repository.id}/pulls/1"
    found = await bot("GET", moved.headers["Location"])
    assert found.body["base"]["repo"]["full_name"] == "acme/wiki"
    posted = await bot("POST", f"{REPO}/issues/1/comments", json={"body": "Hello"})
    assert posted.status == 307


async def test_the_numbers_of_threads_and_ids_are_never_the_same(fake_github, repository):
    pull = fake_github.open_pull_request(repository, "bob")
    issue = fake_github.open_issue(repository, "bob", "An issue")
    second = fake_github.open_pull_request(repository, "bob", PullRequestOptions(draft=True))
    assert [each.number for each in (pull, issue, second)] == [1, 2, 3]
    assert len({pull.id, pull.pull_id, issue.id, second.id, second.pull_id}) == 5


async def test_a_deleted_fork_leaves_the_head_without_a_repository(bot, fake_github, repository):
    pull = fake_github.open_pull_request(repository, "bob", PullRequestOptions(fork=True))
    fake_github.delete_fork(pull)
    head = (await bot("GET", f"{REPO}/pulls/1")).body["head"]
    assert (head["repo"], head["sha"]) == (None, pull.head_sha)
    assert [each["head"]["repo"] for each in (await bot("GET", f"{REPO}/pulls")).body] == [None]


async def test_a_resolved_thread_is_told_with_all_its_comments(fake_github, pull):
    draft = InlineDraft("claims/first.md", "Which?", 1)
    (first,) = fake_github.submit_review(pull, "alice", "COMMENTED", "", [draft]).comments
    fake_github.reply(first, "whetstone[bot]", "The second.")
    fake_github.resolve_thread(first, by="bob")
    payload = fake_github.deliveries.all[-1].payload
    assert (payload["action"], payload["sender"]["login"]) == ("resolved", "bob")
    assert payload["thread"]["node_id"].startswith("PRRT_")
    assert [each["body"] for each in payload["thread"]["comments"]] == ["Which?", "The second."]


async def test_a_review_answers_the_request_for_it(bot, fake_github, pull):
    fake_github.request_review(pull, "alice", by="carol")
    payload = fake_github.deliveries.all[-1].payload
    sent = (payload["action"], payload["requested_reviewer"]["login"], payload["sender"]["login"])
    assert sent == ("review_requested", "alice", "carol")
    requested = (await bot("GET", f"{REPO}/pulls/1")).body["requested_reviewers"]
    assert [each["login"] for each in requested] == ["alice"]
    fake_github.submit_review(pull, "alice", "APPROVED")
    assert (await bot("GET", f"{REPO}/pulls/1")).body["requested_reviewers"] == []


async def test_whoever_acts_on_anothers_text_is_the_sender(fake_github, pull):
    draft = InlineDraft("claims/first.md", "Which?", 1)
    review = fake_github.submit_review(pull, "alice", "CHANGES_REQUESTED", "No", [draft])
    fake_github.edit_review(review, "No.", by="carol")
    fake_github.edit_review_comment(review.comments[0], "Which one?", by="carol")
    fake_github.delete_review_comment(review.comments[0], by="carol")
    fake_github.dismiss_review(review, by="carol")
    fake_github.set_draft(pull, draft=True, by="carol")
    fake_github.edit_pull_request(pull, title="Other", by="carol")
    sent = [(each.action, each.payload["sender"]["login"]) for each in fake_github.deliveries.all[-6:]]
    actions = ("edited", "edited", "deleted", "dismissed", "converted_to_draft", "edited")
    assert sent == [(action, "carol") for action in actions]
