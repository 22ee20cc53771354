"""DIET: intent and entities of a request, from one small transformer (Bunk et al. 2020, arXiv:2004.09936)."""
