"""Set-up in the browser: from no credentials to an App that is registered and installed."""
