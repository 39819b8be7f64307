"""Values of a run: recordings of all instructions, and comparison with a reference."""
