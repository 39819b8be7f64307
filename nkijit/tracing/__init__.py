"""Tracing: a kernel runs once as Python, and each call of an instruction appends an op."""
