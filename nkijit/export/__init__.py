"""Export of IR as Python source of the current NKI API."""
