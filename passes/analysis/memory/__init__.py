"""The memory map of a kernel: as data, as text, as a picture."""
