"""Fusion: producers computed inside their consumers, with reasons for and against."""
