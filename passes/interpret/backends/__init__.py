"""Backends: each package turns records (descriptions of computations) into executable steps."""
