"""Sentence vectors: an encoder that pools BERT's layers, its objectives, its training, and serving it."""
