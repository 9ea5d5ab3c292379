"""The HTTP side: GitHub's webhooks come in here, people's probes are answered here."""
