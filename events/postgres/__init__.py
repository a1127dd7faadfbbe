"""The log on a PostgreSQL server, which several processes may append to and follow."""
