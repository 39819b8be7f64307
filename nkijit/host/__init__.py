"""The host: files, installed packages, the terminal, processes."""
