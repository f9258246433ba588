"""The floor record: every table's entries in one PostgreSQL database, sent there by forwarders."""
