"""Deliveries, lanes, the worker, retries, and sending."""
