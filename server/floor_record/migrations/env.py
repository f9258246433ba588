"""Run by alembic: apply the migrations on the connection that the program opened."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], version_table_schema="public")
with context.begin_transaction():
    context.run_migrations()
