"""Mutants: what they are, how they get into a copy of the sources, and who noticed them."""
