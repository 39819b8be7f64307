"""The cost model: formulas of the costs of engine instructions."""
