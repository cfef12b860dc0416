"""Plain loop nests of HLO instructions and fusions; `from_hlo.py` begins."""
