"""What should be true on GitHub now, given what is known."""
