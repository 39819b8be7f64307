"""Conversions between a kernel with loops as `nki.repeat` and the equivalent unrolled kernel."""
