"""memu: the memory of a workspace."""
