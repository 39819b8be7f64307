"""Reusable rules: each function returns one rule for the named fields of an op.

`Rule` documents the properties that a check may depend on. A check ignores omitted operands.
"""
