"""The parts of the attention explorer."""
