"""What every backend is checked with, shipped so that a backend in a package of its own runs it too."""
