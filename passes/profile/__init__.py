"""How long a kernel takes by the cost model, and why."""
