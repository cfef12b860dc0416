"""Scans: reductions that give every running value. Their plain nests and how they are lowered."""
