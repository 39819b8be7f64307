"""Plans: a kernel compiled once, run many times."""
