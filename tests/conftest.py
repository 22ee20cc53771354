"""A slow machine is not wrong: how long something takes is measured in bench, not by a deadline of a random example."""

from hypothesis import settings

settings.register_profile("minibert", deadline=None)
settings.load_profile("minibert")
