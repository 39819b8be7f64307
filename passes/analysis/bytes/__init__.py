"""Sets of bytes that tiles and views cover."""
