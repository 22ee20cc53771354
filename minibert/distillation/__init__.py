"""A small model learns from a large one: losses, the activations they compare, the learner, one run."""
