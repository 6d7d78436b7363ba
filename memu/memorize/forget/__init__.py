"""Forgetting: what a scope was told to forget goes, and is cut out of every source that is read later."""
