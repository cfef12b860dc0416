"""The passes, by intent as in XLA.

`pipeline/built_in_passes.py` has the names that each module declares.
"""
