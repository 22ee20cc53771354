"""What can be cut out of a model that has learned: heads, neurons, layers, weights; the search for a shape."""
