"""The parts of the lesson Attention."""
