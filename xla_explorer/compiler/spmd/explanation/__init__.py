"""A partitioned program with its causes: what each collective sends, where, when and why.

Start reading at `recorded_partitioning.py`.
"""
