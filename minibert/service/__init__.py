"""Using a fine-tuned model: over HTTP, exported, and both tried in one process."""
