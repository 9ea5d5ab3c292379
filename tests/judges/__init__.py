"""GitHub's own published words, as judges of what we send and of what the fake GitHub answers."""
