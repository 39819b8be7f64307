"""Semantics: functions that create the record (computation as data) of each instruction."""
