"""Which instruction writes the destination of an assignment."""
