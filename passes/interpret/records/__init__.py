"""Records: descriptions of the computations of instructions; and the environment of a run."""
