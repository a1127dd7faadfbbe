"""Operations for programs and the command line, which agents do not see."""

from actors.api.operations.facade import Operations
from actors.api.operations.import_export import MemoryExport, MemoryImport
from actors.api.params import audit as audit_params
from actors.api.params import sleep as sleep_params
from actors.api.tools.tool import unlisted

PROGRAM_TOOLS = (
    unlisted("status", "store/status", audit_params.StoreStatus, Operations.status),
    unlisted("diff", "store/diff", audit_params.StoreDiff, Operations.store_diff),
    unlisted("replay", "store/replay", audit_params.StoreReplay, Operations.store_replay),
    unlisted("schedule", "store/schedule", sleep_params.ChangeSchedules, Operations.schedule, read_only=False),
    unlisted("verify", "store/verify", audit_params.StoreVerify, Operations.store_verify, read_only=False),
    unlisted("backup", "store/backup", audit_params.StoreBackUp, Operations.store_back_up, read_only=False),
    unlisted("import", "memory/import", MemoryImport, Operations.memory_import, read_only=False),
    unlisted("export", "memory/export", MemoryExport, Operations.memory_export),
)
