"""Rewrite rules: where each applies, trials, times, claims, proofs, certificates.

Start reading at `rule_book.py`.
"""
