"""What those who work on nkijit run: `python -m tools.links`, `python -m tools.release`."""
