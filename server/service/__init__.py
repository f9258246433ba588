"""The service: many tables' journals, read and shown to people who may see them."""
