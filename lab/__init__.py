"""Measurements and campaigns that a person starts; the tests show that the program is right."""
