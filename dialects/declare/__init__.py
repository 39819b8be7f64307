"""Declaration of instructions: kinds of fields, the decorator, and reusable rules."""
