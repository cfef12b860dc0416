"""The lowering of a loop nest for the threads of a launch, which run together."""
