"""One script per revision; its name starts with the revision."""
