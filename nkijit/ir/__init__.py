"""Printing and parsing of IR."""
