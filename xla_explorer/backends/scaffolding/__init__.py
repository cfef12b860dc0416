"""The kit: an installable package with a working backend to start from, with its tests, for each of three scenarios."""
