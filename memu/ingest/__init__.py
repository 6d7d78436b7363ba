"""From a folder to documents: scan, ignore, diff, decode, redact, read."""
