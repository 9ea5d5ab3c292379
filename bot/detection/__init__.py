"""Detect the type of feedback in plain words."""
