"""Further options of fine-tuning, one file each."""
