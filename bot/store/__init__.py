"""The database: schema, migrations, and the queries of inbox, lanes and outbox."""
