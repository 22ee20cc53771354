"""The relatives of BERT, a file each: what is different, and nothing else. `registry` says which there are."""
