"""Properties are not timed, and tried on fewer examples at each commit than before a release."""

import os

from hypothesis import settings

from tests.thoroughness import examples

# Idle threads of OpenBLAS wait actively: with one thread, matrices cost half the processor time.
# NumPy reads this when it is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

settings.register_profile("house", deadline=None, max_examples=examples(100))
settings.load_profile("house")
