"""Index expressions and masks of the classic API, and the boxes of elements that they select."""
