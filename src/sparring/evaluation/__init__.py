"""Benchmarks and scoring of stored generations."""
