"""A local GitHub for the demo and the tests: stateful, over HTTP, with signed webhooks."""
