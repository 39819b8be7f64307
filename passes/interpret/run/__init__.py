"""Runs on several cores and ranks, and watches over them."""
