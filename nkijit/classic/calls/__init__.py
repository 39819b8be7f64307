"""Calls and assignments of the classic API as instructions."""
