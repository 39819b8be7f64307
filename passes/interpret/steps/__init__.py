"""Steps: blocks of a kernel bound to slots, and the memory that they use."""
