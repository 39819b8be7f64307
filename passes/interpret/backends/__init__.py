"""Backends: each package turns records into steps."""
