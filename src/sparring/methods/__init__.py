"""Training methods; each file reads as its algorithm box."""
