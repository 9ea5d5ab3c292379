"""One script a step; the name of a script starts with its revision."""
