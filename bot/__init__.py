"""Whetstone: a GitHub App that turns a rejected pull request into actionable feedback."""
