"""The parts of Features or fine-tuning."""
