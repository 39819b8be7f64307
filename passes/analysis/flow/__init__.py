"""Control flow, value ranges and dependences."""
