"""One sentence through BERT: the input form, the data sent to the browser, and the picture drawn there."""
