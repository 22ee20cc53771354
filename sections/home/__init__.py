"""The parts of Home."""
