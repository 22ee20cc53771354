"""The parts of the pages: a folder a lesson, a file a part, each with `show(…)`."""
