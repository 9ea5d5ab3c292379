"""The ledger of findings: what validators say is wrong with a pull request, and what became of each."""
