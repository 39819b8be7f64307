"""Other ways to write a kernel, which mean the same: loops of the author's Python, and without."""
