"""The HTTP server: webhook, API, set-up pages, metrics, health."""
