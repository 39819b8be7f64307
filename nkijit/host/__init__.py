"""Files, installed packages, the terminal and processes of the host."""
