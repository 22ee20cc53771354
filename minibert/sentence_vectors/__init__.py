"""One vector a sentence: an encoder that pools BERT's last layer, what it learns by, its run, and what answers."""
