"""Functions in processes of their own, by what the operating system has for that."""
