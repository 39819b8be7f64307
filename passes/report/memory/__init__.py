"""The memory map of a kernel as text and as a picture."""
