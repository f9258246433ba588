"""Properties are not timed, and tried on fewer examples at each commit than before a release."""

import gc
import os

from hypothesis import settings

from tests.thoroughness import examples

# Idle threads of OpenBLAS wait actively: with one thread, matrices cost half the processor time.
# NumPy reads this when it is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Python searches all objects for garbage cycles again and again, and pytest holds hundreds of
# thousands: searched less often, and not those of the collection, tests cost 8% less.
gc.set_threshold(10_000)

settings.register_profile("house", deadline=None, max_examples=examples(100))
settings.load_profile("house")


def pytest_collection_finish() -> None:
    """Leave the collected tests and the loaded modules out of every later search."""
    gc.freeze()


def pytest_unconfigure() -> None:
    """Leave everything out of the search at the interpreter's end."""
    gc.freeze()
