"""Counterfactual credit: what every other credit would have taught, from the rollouts that a run stored."""
