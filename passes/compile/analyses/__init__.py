"""Facts about a kernel that several passes use."""
