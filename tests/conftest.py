"""Properties are not timed, and tried on fewer examples at each commit than before a release."""

from hypothesis import settings

from tests.thoroughness import examples

settings.register_profile("house", deadline=None, max_examples=examples(100))
settings.load_profile("house")
