"""Tests of loop nests."""
