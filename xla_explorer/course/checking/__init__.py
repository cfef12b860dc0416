"""What every check is made of: exercises by name, their answers, deadlines, random programs, small counter-examples."""
