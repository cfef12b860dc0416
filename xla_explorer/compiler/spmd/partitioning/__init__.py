"""The partitioner: one program of many devices becomes the program of each."""

from __future__ import annotations
