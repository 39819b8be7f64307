"""Hardware data of each generation: sizes, limits and timing constants."""
