"""Properties are not timed: a busy machine proves nothing about them."""

from hypothesis import settings

settings.register_profile("house", deadline=None)
settings.load_profile("house")
