"""A classroom with many users: several app servers behind one address, one queue of trainings, one store of runs."""
