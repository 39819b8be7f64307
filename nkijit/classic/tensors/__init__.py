"""Tensors of the classic API."""
