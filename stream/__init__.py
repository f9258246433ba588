"""The event stream: clock, journal, recording and replay."""
