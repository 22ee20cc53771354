"""The parts of One sentence through BERT."""
