"""Send the tables' events to other systems: webhooks, brokers, video management."""
