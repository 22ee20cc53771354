"""minibert: a compact BERT to read, train and look inside (Devlin et al. 2019, arXiv:1810.04805)."""

__version__ = "1.0.0"
