"""One turn of a pull request: plan, fetch, decide, store."""
