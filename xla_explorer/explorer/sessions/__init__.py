"""Loading, arguments, options, compiling, isolation in a child process."""
