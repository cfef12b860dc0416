"""Fusions of whole blocks for a compiler of tiles."""
