"""The parts of Input."""
