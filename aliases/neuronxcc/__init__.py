"""The package in which kernels of the classic API find `nki`.

Importing it gives Python's `logging` a level above all others, `logging.OFF`, as the vendor's
package does.
"""

import logging

logging.OFF = logging.CRITICAL + 10
