"""Iterations of a pull request: scoring, progress, selection, follow-up."""
