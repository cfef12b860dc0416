"""Attributes as HLO text: the list after an instruction, and the grammar of each value."""
