"""The JSON that GitHub writes about its things, in answers and in webhooks alike."""
