"""A fine-tuned model at work: over HTTP, exported, and both tried in one process."""
