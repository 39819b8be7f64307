"""The cost model: formulas of what engine instructions take, and the constants that they use."""
