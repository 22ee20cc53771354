"""Small worlds to train on in a minute: stories whose words the context determines, and words to reorder."""
