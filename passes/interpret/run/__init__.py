"""Runs on several cores and ranks, and checks during a run."""
