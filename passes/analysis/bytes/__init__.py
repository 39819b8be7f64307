"""The bytes that tiles and views touch."""
