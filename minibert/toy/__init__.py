"""Small worlds to train on in a minute: stories whose words are determined, words put in another order."""
