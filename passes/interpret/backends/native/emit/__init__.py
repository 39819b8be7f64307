"""Emits instruction forms as LLVM functions: loops that load, compute in float32, round and
store.
"""
