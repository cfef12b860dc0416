"""From what a user has to a compiled program: loading, arguments, options, compiling, isolation."""
