"""Findings of passes, their texts and documents."""
