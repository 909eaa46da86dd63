"""Trains language models with no data: placement, credit and teaching over one set of nouns."""
