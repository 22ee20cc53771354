"""Foundations of the training loop: optimizers, precision, processes, states to resume from, averaged weights."""
