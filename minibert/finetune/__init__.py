"""Fine-tuning: settings, the model while it learns, the run, and what answers with the result."""
