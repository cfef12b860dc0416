"""Attributes as HLO text: the list behind an instruction, and the grammar of each value."""
