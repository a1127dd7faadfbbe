"""The operations of programs and the command line, which no agent is told of."""

from actors.api.operations import audit, import_export, maintenance, sleep
from actors.api.params import audit as audit_schemas
from actors.api.params import sleep as sleep_schemas
from actors.api.tools.tool import unlisted

FOR_PROGRAMS = (
    unlisted(
        "status",
        "store/status",
        "What the store holds, which models fill the spaces, and how long things take.",
        audit_schemas.StoreStatus,
        maintenance.store_status,
    ),
    unlisted(
        "diff",
        "store/diff",
        "What changed between two moments.",
        audit_schemas.StoreDiff,
        audit.store_diff,
    ),
    unlisted(
        "replay",
        "store/replay",
        "Whether all that is known follows from the log.",
        audit_schemas.StoreReplay,
        audit.store_replay,
    ),
    unlisted(
        "schedule",
        "store/schedule",
        "When the store sleeps, as it is or shall be.",
        sleep_schemas.ChangeSchedules,
        sleep.store_schedule,
        read_only=False,
    ),
    unlisted(
        "verify",
        "store/verify",
        "Whether every byte of the log is what it was.",
        audit_schemas.StoreVerify,
        maintenance.store_verify,
        read_only=False,
    ),
    unlisted(
        "backup",
        "store/backup",
        "Copy the store as it stands.",
        audit_schemas.StoreBackUp,
        maintenance.store_back_up,
        read_only=False,
    ),
    unlisted(
        "import",
        "memory/import",
        "Store memories that were exported, each once.",
        import_export.MemoryImport,
        import_export.memory_import,
        read_only=False,
    ),
    unlisted(
        "export",
        "memory/export",
        "The memories of a namespace as they were stored.",
        import_export.MemoryExport,
        import_export.memory_export,
    ),
)
