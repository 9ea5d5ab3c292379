"""GitHub's REST and GraphQL endpoints: each is a function from a call to an answer."""
