"""One sentence through BERT: what is read, what is sent to the browser, what is drawn there."""
