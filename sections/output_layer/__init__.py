"""One output layer: the paper's figure 4 on the reader's own text, and the parts of the lesson below it."""
