"""Emits instruction forms as LLVM functions: loops that load, compute, round and store."""
