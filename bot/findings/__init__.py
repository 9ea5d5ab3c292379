"""The ledger of findings: what validators report about a pull request, and the status of each finding."""
