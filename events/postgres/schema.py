"""The tables of a log on PostgreSQL: how they are created, and how they are recognised."""

from typing import Final

import psycopg

from events.crypto.chain_key import ChainKey
from events.crypto.keys import KeyRing
from events.crypto.wrapping import KeyHeader
from events.postgres.connection import Connection, reason, translated
from events.storage.log import LogError

SCHEMA: Final = "context_graph"
"""The schema of all tables; a database holds one log."""
FORMAT: Final = 2
"""Of new logs; the header of one of format 1 is an earlier one (`events.crypto.wrapping`)."""
CHANNEL: Final = "context_graph"

LOCKS: Final = 1_128_746_055
"""First key of the advisory locks of a log ("CGLG" in ASCII); the second one tells them apart.

Advisory locks belong to a database, so logs in two databases never wait for each other. Two keys are a space of their
own: a program in the same database that locks one number can't meet them.
"""
CREATION: Final = 1
CONSOLIDATION: Final = 2

_COLUMNS: Final = {
    "head": "single seq hash",
    "keys": "id record",
    "log": "seq id at kind actor correlation_id causation_id data prev_hash hash",
    "snapshot_keys": "id record",
    "store": "single format header",
}
"""The columns of each table, in their order."""

_CREATE: Final = """
CREATE SCHEMA context_graph;
CREATE TABLE context_graph.store (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    format integer NOT NULL,
    header bytea NOT NULL
);
CREATE TABLE context_graph.head (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    seq bigint NOT NULL,
    hash bytea NOT NULL
) WITH (fillfactor = 10);
CREATE TABLE context_graph.log (
    seq bigint PRIMARY KEY,
    id uuid NOT NULL,
    at timestamp NOT NULL,
    kind text NOT NULL,
    actor text NOT NULL,
    correlation_id uuid NOT NULL,
    causation_id uuid,
    data bytea NOT NULL,
    prev_hash bytea NOT NULL,
    hash bytea NOT NULL
);
CREATE TABLE context_graph.keys (id uuid PRIMARY KEY, record bytea NOT NULL CHECK (octet_length(record) = 64));
CREATE TABLE context_graph.snapshot_keys (LIKE context_graph.keys INCLUDING ALL);
-- Encrypted bytes don't compress.
ALTER TABLE context_graph.log ALTER COLUMN data SET STORAGE EXTERNAL;
CREATE FUNCTION context_graph.refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'the log is append-only'; END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON context_graph.log
    FOR EACH STATEMENT EXECUTE FUNCTION context_graph.refuse();
"""
"""`head` is updated by each commit: room in its page keeps the update there. The trigger guards against accidents."""

_FOUND: Final = """
SELECT c.relname, string_agg(a.attname, ' ' ORDER BY a.attnum)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE n.nspname = %s AND c.relkind IN ('r', 'p', 'v', 'm', 'f') GROUP BY c.relname
"""
_FORBIDDEN: Final = """
SELECT name || ' (' || privilege || ')' FROM (VALUES
    ('log', 'SELECT'), ('log', 'INSERT'), ('head', 'UPDATE'), ('keys', 'INSERT'), ('keys', 'UPDATE'),
    ('store', 'SELECT'), ('snapshot_keys', 'INSERT'), ('snapshot_keys', 'DELETE')) AS needed (name, privilege)
WHERE NOT has_table_privilege('context_graph.' || name, privilege)
"""


def exists(connection: Connection) -> bool:
    """Tell whether the database holds a log (`LogError`: the schema of that name holds something else)."""
    with translated():
        if not connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", [SCHEMA]).fetchone():
            return False
        found = dict(connection.execute(_FOUND, [SCHEMA]).fetchall())
    if found != _COLUMNS:
        other = sorted(name for name in found.keys() | _COLUMNS.keys() if found.get(name) != _COLUMNS.get(name))
        raise LogError(
            f"the schema {SCHEMA} of database {connection.info.dbname} is no log of this program: "
            f"{', '.join(other)} isn't as expected; choose another database"
        )
    return True


def check_usable(connection: Connection) -> None:
    """Check that the log is of a known format, and that the role may append to it (`LogError`)."""
    with translated():
        row = connection.execute("SHOW transaction_read_only").fetchone()
        if row and row[0] == "on":
            raise LogError(f"the database {connection.info.dbname} is read-only for {connection.info.user}")
        schema = connection.execute("SELECT has_schema_privilege(%s, 'USAGE')", [SCHEMA]).fetchone()
        if schema and not schema[0]:
            raise LogError(f"the role {connection.info.user} has no rights on the schema {SCHEMA}")
        missing = [name for (name,) in connection.execute(_FORBIDDEN).fetchall()]
        if missing:
            raise LogError(f"the role {connection.info.user} may not use all tables of {SCHEMA}: {', '.join(missing)}")
        found = connection.execute("SELECT format FROM context_graph.store").fetchone()
    if found is None or not 1 <= found[0] <= FORMAT:
        raise LogError(f"the log has format {found[0] if found else 'unknown'}, and this version reads {FORMAT}")


def create(connection: Connection, header: bytes) -> None:
    """Create all tables within a transaction of the caller's (`LogError`: the role may not create them)."""
    try:
        connection.execute(_CREATE)
    except (psycopg.errors.InsufficientPrivilege, psycopg.errors.ReadOnlySqlTransaction) as error:
        raise LogError(
            f"the role {connection.info.user} can't create the schema {SCHEMA} in database "
            f"{connection.info.dbname}: {reason(error)}"
        ) from error
    connection.execute("INSERT INTO context_graph.store (format, header) VALUES (%s, %s)", [FORMAT, header])
    connection.execute("INSERT INTO context_graph.head (seq, hash) VALUES (0, %s)", [bytes(32)])


def open_store(connection: Connection, passphrase: str | None, *, creates: bool) -> KeyRing:
    """Create the tables if there are none; return a ring without keys, behind the passphrase of the log.

    A hub that knows a log doesn't create another: the tables would be in the way of those that are restored.

    Raises:
        PassphraseError: the passphrase is wrong, or missing, or given for a log without one.
        LogError: the database holds something else, or the role may not use or create the log.
    """
    with translated(), connection.transaction():
        lock_creation(connection)
        if not exists(connection):
            if not creates:
                raise LogError(
                    f"the database {connection.info.dbname} holds no log, but this hub knows one: restore it, or "
                    "choose another folder by --data for a new log"
                )
            create(connection, KeyHeader.create(passphrase, ChainKey.create(1)).content)
        return KeyRing.of(read_header(connection), passphrase)


def read_header(connection: Connection) -> bytes:
    """Return the header of the keys of an existing log, to which this role may append (`LogError`)."""
    check_usable(connection)
    ((header,),) = connection.execute("SELECT header FROM context_graph.store", binary=True).fetchall()
    return header


def check_header(connection: Connection, known: KeyHeader) -> None:
    """Check that the database still holds the log whose keys have this header (`LogError`)."""
    if not exists(connection) or read_header(connection) != known.content:
        raise LogError(f"the database {connection.info.dbname} holds another log than this hub knows, or none")


def lock_creation(connection: Connection) -> None:
    """Let one process at a time look for the tables and create them, until the end of the transaction."""
    connection.execute("SELECT pg_advisory_xact_lock(%s::int, %s::int)", [LOCKS, CREATION])
