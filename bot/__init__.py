"""Whetstone: closes the loop on rejected pull requests."""
