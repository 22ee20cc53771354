"""The parts of the lesson “Encoder and decoder”."""
