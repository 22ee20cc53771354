"""The parts of Tokenization."""
