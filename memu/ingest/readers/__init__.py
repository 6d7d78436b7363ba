"""One reader a module, and the small parts that they share."""
