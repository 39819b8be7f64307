"""Emits the instructions of calls and assignments of the classic API."""
