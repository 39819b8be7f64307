"""The memory map of a kernel, and the tiles to spill when SBUF is too small."""
