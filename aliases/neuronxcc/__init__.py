"""The package in which kernels of the classic API find `nki`.

It adds a level to Python's `logging`, as the vendor's package does: `logging.OFF`, above all others.
"""

import logging

logging.OFF = logging.CRITICAL + 10
