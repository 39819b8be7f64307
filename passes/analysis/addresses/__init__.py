"""Where live tiles can lie: a lower bound of what they need, and an assignment of addresses."""
