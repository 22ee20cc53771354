"""What else can be set: a file for each option of fine-tuning."""
