"""Speed, shown and never asserted: `make bench`, or `make bench ARGS=turn` for one part."""
