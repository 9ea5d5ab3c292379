"""Gates, packs of gates, and the configuration of a repository."""
