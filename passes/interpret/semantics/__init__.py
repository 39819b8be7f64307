"""Semantics: functions that make the record of each instruction."""
