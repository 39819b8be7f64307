"""Addresses for live tiles: lower bounds of the memory they need, and an assignment."""
