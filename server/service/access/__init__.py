"""Accounts, rights, and the record of people's actions."""
