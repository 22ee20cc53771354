"""Fine-tuning: settings, the model during training, the run, and predicting with the result."""
