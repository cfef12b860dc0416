"""The parts of the book besides its pages: the generated reference and checks of built pages."""
