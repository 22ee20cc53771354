"""Text before a model reads it: files, vocabularies, token stores, rows and batches."""
