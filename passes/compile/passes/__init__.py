"""The compiler's passes; each module has the name of its pass."""
