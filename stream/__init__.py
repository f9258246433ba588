"""The event stream: clock, journal, bus, recording and replay."""
