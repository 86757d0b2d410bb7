"""Mutants: their catalogue, their insertion into a copy of the sources, and who noticed them."""
