"""The passes, one file each, named as the pass."""
