"""The parts of Parameters."""
