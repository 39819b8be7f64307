"""Kernels: functions that are traced once per specialisation."""
