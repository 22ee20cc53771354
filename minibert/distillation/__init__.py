"""A small model learns from a large one: losses, what is read of both, the learner, one run."""
