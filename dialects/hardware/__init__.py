"""The numbers of the hardware: what a generation has, and how long things take on it."""
