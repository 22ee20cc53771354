"""Learning from few labels: all of PET (an ensemble of patterns), and a cloze without training."""
