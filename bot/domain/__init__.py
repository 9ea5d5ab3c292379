"""What the words of the contract mean, as values."""
