"""Launch grids of the classic API, and the tracing of their instances."""
