"""Who chooses the tasks."""
