"""Records: the computations of instructions, as data, and the environment that they run in."""
