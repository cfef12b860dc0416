"""What targets take for work and traffic: the numbers behind estimates, which passes and the explorer share."""
