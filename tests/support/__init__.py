"""What tests of several folders start from: programs, fakes, limits of time."""
