"""Looking at values: what each instruction of a run has computed, and whether it should have."""
