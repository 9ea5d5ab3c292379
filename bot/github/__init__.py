"""GitHub's API; the only package that knows gidgethub."""
