"""Records, which describe the computations of instructions as data, and the environment of
a run.
"""
