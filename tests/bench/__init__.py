"""Measurements that a person starts; nothing here is run by the tests."""
