"""A small local GitHub for the demo and the tests."""
