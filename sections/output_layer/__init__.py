"""One output layer: the paper's figure 4 on the user's own text, and the parts of the lesson below it."""
