"""Records: what an instruction computes, as data, and the environment that it runs in."""
