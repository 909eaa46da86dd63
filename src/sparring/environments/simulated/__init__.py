"""A world of attempts that only say how hard they are: the simulated engine plays in it."""
