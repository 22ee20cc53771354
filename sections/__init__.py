"""The parts of the pages: a folder a lesson, a file a part of it. A page is their table of contents."""
