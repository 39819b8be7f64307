"""Semantics: functions that create the record (description of the computation) of each
instruction.
"""
