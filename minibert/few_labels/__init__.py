"""Learning from few labels: a task as a cloze (PET, iPET), learned prompt vectors (P-tuning), smoothness (VAT)."""
