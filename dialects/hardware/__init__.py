"""The numbers of the hardware: sizes and limits of each generation, and constants of time."""
