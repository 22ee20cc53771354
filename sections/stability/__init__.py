"""The parts of Why runs differ."""
