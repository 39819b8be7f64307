"""Index expressions, masks, and the boxes that they select."""
