"""Extraction by a model: chunks and prompt, the checks of what it wrote, and what stands in where it fails."""
