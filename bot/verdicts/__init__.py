"""What validators say: reviews, comments, checks, labels, SARIF logs, documents and tags."""
