"""What the book has besides its pages: the reference, made of the package's own tables, and the checks of what was built."""
