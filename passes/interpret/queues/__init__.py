"""Runs lowered programs: the queues of all cores under an adversarial interleaving."""
