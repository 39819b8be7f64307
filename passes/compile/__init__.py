"""What a compiler does with a kernel before it is lowered; results stay the same, bit by bit."""
