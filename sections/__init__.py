"""The parts of the pages: one folder per lesson, one file per part, each with `show(…)`. A page lists its parts."""
