"""Extractors: from a document to the candidates of memory."""
