"""The weekly summary issue."""
