"""The parts of Why this answer."""
