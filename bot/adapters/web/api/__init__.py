"""The HTTP API: what is remembered, for whoever GitHub lets read it."""
