"""Compiler passes, run before lowering; they change a kernel but no bit of its results."""
