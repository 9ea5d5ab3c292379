"""Speed, shown and never asserted: `make bench`, or `make bench ARGS=path` for one part."""
