"""The comment, its marker and document, the brief, the check run, and the linter."""
