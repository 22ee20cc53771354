"""A slow machine is not wrong: how long something takes is measured in bench, not by a deadline of a random example."""

import os

from hypothesis import settings

# Before torch is loaded: threads that wait sleep. Two processes that spin on the same cores take minutes for seconds.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

settings.register_profile("minibert", deadline=None)
settings.load_profile("minibert")
