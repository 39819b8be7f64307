"""Table of the releases of NKI."""
