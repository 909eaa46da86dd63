"""Run folders, checkpoints and metrics."""
