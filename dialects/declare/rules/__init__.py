"""Reusable rules: each function makes one rule for the named fields of an op.

What a rule may look at, so that instructions of one form need to be judged once, stands at `Rule`.
Facts about an operand that was left out are vacuously true.
"""
