"""IR as text."""
