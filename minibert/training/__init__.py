"""What the training loop rests on: optimizers, precision, processes, states to resume from, mean weights."""
