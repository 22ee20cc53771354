"""Few labels: a task asked as a cloze (PET, iPET), a prompt of vectors (P-tuning), smoothness beside (VAT)."""
