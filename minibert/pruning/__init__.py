"""What can be cut from a trained model: heads, neurons, layers, weights; and the search for a smaller shape."""
