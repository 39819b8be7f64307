"""Written parts of tensors, and live ranges of tiles."""
