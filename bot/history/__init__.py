"""Per-author history: records, patterns, export and forgetting."""
