"""What is taught, a folder per lesson, and what the exercise notebooks share."""
