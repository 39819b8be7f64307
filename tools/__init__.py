"""Scripts for the development of nkijit: `python -m tools.links`, `python -m tools.release`, …"""
