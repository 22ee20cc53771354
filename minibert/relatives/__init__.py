"""The relatives of BERT, one file each, with only what differs from BERT. `registry` lists them."""
