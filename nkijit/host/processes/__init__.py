"""Execution of functions in separate processes, by the means of each operating system."""
