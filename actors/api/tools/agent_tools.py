"""The table of operations: each is an MCP tool and a JSON-RPC method.

A tool has the name of its operation; its description is the docstring of its parameters. Searches that note what they
found, and so change what `access_count` and the workspace say, are not marked as read-only.

A caller over HTTP may call what has a scope; one whose key is limited to namespaces, what is `confined` too.
"""

from functools import partial

from actors.api.caller import Scope
from actors.api.operations.administration import audit, calibration, export, history, maintenance
from actors.api.operations.ingest import capture, former_memories, imports
from actors.api.operations.lifecycle import memories, namespaces, retrieval, scan, versions
from actors.api.operations.mind import goals, runs, schedule, sleep, workspace
from actors.api.operations.retrieval import browsing, causal_path, comparison, graph, memory_map, ranking, search
from actors.api.tools.tool import tool

read_tool = partial(tool, scope=Scope.READ, confined=True)
search_tool = partial(tool, scope=Scope.READ, confined=True, spans_namespaces=True)
write_tool = partial(tool, scope=Scope.WRITE, confined=True)
admin_tool = partial(tool, scope=Scope.ADMIN, confined=True)

TOOLS = (
    write_tool("memory/store", memories.store_memory, "fingerprintId", waits=False),
    write_tool("context/inject", memories.inject_context, "fingerprintId", core=True, waits=False),
    search_tool("search/graph", search.search_graph, "results", core=True, waits=False),
    write_tool("memory/inject", memories.memory_inject, "memory_id", waits=False),
    write_tool("memory/inject_batch", memories.memory_inject_batch, core=True, waits=False),
    read_tool("memory/retrieve", retrieval.memory_retrieve, core=True, read_only=True),
    search_tool("memory/search", search.memory_search, "results", waits=False),
    write_tool("memory/delete", memories.memory_delete, core=True, destructive=True),
    write_tool("memory/restore", memories.memory_restore, core=True),
    write_tool("memory/supersede", versions.memory_supersede, core=True, idempotent=True),
    search_tool("memory/search_multi_perspective", ranking.memory_search_multi_perspective, "results", waits=False),
    read_tool("memory/compare", comparison.memory_compare, read_only=True),
    read_tool("memory/batch_compare", comparison.memory_batch_compare, read_only=True),
    read_tool("memory/similarity_matrix", comparison.memory_similarity_matrix, "matrix", read_only=True),
    search_tool("search/multi", ranking.search_multi, "results", waits=False),
    search_tool("search/single_space", ranking.search_single_space, "results", waits=False),
    search_tool("search/by_purpose", ranking.search_by_purpose, "results", read_only=True),
    write_tool("goal/discover", goals.discover_goals, "discovered_goals", core=True),
    read_tool("purpose/drift_check", goals.get_alignment_drift),
    admin_tool("memory/consolidate", sleep.consolidate_memories, "run_id", destructive=True),
    admin_tool("memory/undo_consolidation", sleep.undo_consolidation),
    read_tool("memory/consolidations", runs.list_consolidations, "runs", read_only=True),
    read_tool("memory/pruning_candidates", runs.get_pruning_candidates, "candidates", read_only=True),
    admin_tool("dream/trigger", sleep.trigger_dream),
    tool("dream/status", schedule.get_dream_status, read_only=True, scope=Scope.READ),
    admin_tool("purpose/drift_correct", goals.trigger_drift_correction),
    tool("consciousness/get_state", workspace.get_consciousness_state, read_only=True, scope=Scope.READ),
    search_tool("workspace/status", workspace.get_workspace_status, read_only=True),
    tool("workspace/adjust_coupling", workspace.adjust_coupling, idempotent=True, scope=Scope.ADMIN),
    write_tool("workspace/broadcast", workspace.trigger_workspace_broadcast),
    read_tool("graph/causal_path", causal_path.find_causal_path, "path_found"),
    read_tool("graph/neighborhood", graph.get_neighborhood, core=True, read_only=True),
    read_tool("audit/trail", audit.audit_trail, "events", core=True, read_only=True),
    read_tool("search/weight_profiles", ranking.search_weight_profiles, read_only=True, waits=False),
    # for programs and the command line only
    write_tool("memory/tag", memories.memory_tag, listed=False),
    admin_tool("memory/merge_copies", sleep.merge_copies, listed=False),
    read_tool("store/status", maintenance.store_status, listed=False),
    tool("store/diff", history.store_diff, listed=False, scope=Scope.READ),
    tool("store/replay", history.store_replay, listed=False, scope=Scope.ADMIN),
    tool("store/schedule", schedule.store_schedule, listed=False, scope=Scope.ADMIN),
    tool("store/verify", maintenance.store_verify, listed=False, scope=Scope.ADMIN),
    tool("store/calibrate", calibration.store_calibrate, listed=False, scope=Scope.ADMIN),
    tool("store/backup", maintenance.store_back_up, listed=False, waits=False),  # its target is checked at once
    tool("memory/capture", capture.memory_capture, listed=False),
    tool("memory/import", imports.memory_import, listed=False, scope=Scope.ADMIN),
    tool("memory/former", former_memories.memory_former, listed=False, scope=Scope.ADMIN),
    read_tool("memory/export", export.memory_export, listed=False),
    tool("store/export", export.store_export, listed=False, scope=Scope.READ),
    tool("store/scan", scan.store_scan, listed=False, scope=Scope.ADMIN),
    tool("http/listen", maintenance.http_listen, listed=False, waits=False),
    tool("http/login", maintenance.http_login, listed=False, waits=False),
    read_tool("audit/kinds", audit.audit_of_kinds, listed=False, read_only=True),
    read_tool("memory/history", audit.memory_history, listed=False, read_only=True),
    read_tool("memory/resolve", browsing.memory_resolve, listed=False, read_only=True),
    search_tool("memory/list", browsing.memory_list, listed=False),
    search_tool("store/calendar", browsing.store_calendar, listed=False),
    search_tool("store/map", memory_map.store_map, listed=False),
    read_tool("goal/list", goals.goal_list, listed=False),
    tool("namespace/move", namespaces.namespace_move, listed=False, scope=Scope.ADMIN),
)

BY_NAME = {tool.name: tool for tool in TOOLS if tool.listed} | {"memory_store": TOOLS[0]}
"""Tools by name. `memory_store` is another published name of `store_memory`, and not listed."""

BY_METHOD = {tool.method: tool for tool in TOOLS}
