"""Reusable rules: each function makes one rule for the named fields of an op.

A rule looks at types, properties and scalar constants only, so that equal instructions need to
be judged once. Facts about an operand that was left out are vacuously true.
"""
