"""What the tables' journals say, told to other systems: webhooks, brokers, video management."""
