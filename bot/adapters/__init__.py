"""The only places that know a library."""
