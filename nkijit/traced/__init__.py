"""Traced kernels: findings, runs, predictions, recordings and pages."""
