"""Semantics: the record of each instruction."""
