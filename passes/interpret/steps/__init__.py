"""Steps: the operations of a kernel as functions on an environment, and the memory of a run."""
