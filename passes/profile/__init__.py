"""Prediction and explanation of a kernel's time by the cost model."""
