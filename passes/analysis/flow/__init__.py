"""Control flow, ranges and dependences."""
