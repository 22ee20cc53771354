"""What holds for all tests: no clock for random examples, no threads that fight for a core."""

import os

from hypothesis import settings

# Before torch is loaded: threads that wait sleep. Two processes that spin on the same cores take minutes for seconds.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
if "PYTEST_XDIST_WORKER" in os.environ:  # the workers share the cores out already
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# A slow machine is not wrong: how long something takes is measured in bench, not by a deadline of a random example.
settings.register_profile("minibert", deadline=None)
settings.load_profile("minibert")
