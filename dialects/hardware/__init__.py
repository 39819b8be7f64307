"""Hardware data of each generation: sizes, limits and constants of time."""
