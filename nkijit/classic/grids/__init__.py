"""Launch grids, and the instances that are traced."""
