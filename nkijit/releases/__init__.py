"""The releases of NKI."""
