"""Everything that the five seeds require, one entry each, in the form that their contradictions were settled in.

A test says what it shows to hold by `@pytest.mark.requirement("INTEG-001/inject/empty-content")`;
`test_requirements.py` fails on an entry that no test carries and that has no `gap`, and on a gap that a
test closes. Where a seed speaks of its first implementation, the behaviour stands here in its place.
"""

from dataclasses import dataclass

SEEDS = {"INTEG-001": "000", "STORE-001": "001", "S002": "002", "INTEG-013": "003", "TOOL-INJECT-001": "004"}
"""The seed of each task, by the first part of an id."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """One testable demand: `gap` is the number of the issue that will meet it, None if a test shows that it is met."""

    id: str
    sentence: str
    gap: int | None = None

    @property
    def seed(self) -> str:
        """The number of the seed that demands it, `000` to `004`."""
        return SEEDS[self.id.partition("/")[0]]


# Seed 000: the memory operations.
SEED_000 = (
    # Rules that hold everywhere.
    Requirement(
        "INTEG-001/arch-01/all-or-none",
        "All thirteen embeddings of a memory are made together; if one fails, nothing is stored.",
    ),
    Requirement(
        "INTEG-001/arch-02/like-with-like", "A fingerprint takes in each place only an embedding of that space's kind."
    ),
    Requirement("INTEG-001/arch-03/no-goal-by-hand", "No parameter of any operation sets the North Star or a goal."),
    Requirement(
        "INTEG-001/ap-007/fail-fast",
        "A failure is answered with its code at once; no default or partial result stands in for it.",
    ),
    Requirement(
        "INTEG-001/ap-007/nothing-swallowed",
        "No code catches every kind of error and carries on as if nothing had happened.",
    ),
    # What every write must survive: a separate read.
    Requirement(
        "INTEG-001/verify/read-back",
        "After each store a separate read fetches the memory and compares it with what was sent.",
    ),
    Requirement(
        "INTEG-001/verify/mismatch",
        "A store whose read-back finds nothing, or something else, is answered with -32004.",
    ),
    Requirement(
        "INTEG-001/verify/thirteen-parts", "A memory that is read again has thirteen embeddings, and none is empty."
    ),
    Requirement(
        "INTEG-001/verify/purpose-width", "A memory that is read again has a purpose vector of thirteen entries."
    ),
    Requirement(
        "INTEG-001/verify/johari-rows",
        "A memory that is read again is classified in each of the thirteen spaces, by what its neighbours say.",
    ),
    Requirement(
        "INTEG-001/verify/count", "The number of stored memories can be asked for, and agrees with what was stored."
    ),
    Requirement(
        "INTEG-001/verify/indexes-agree",
        "Each memory stands in the E1 prefix, the inverted and the purpose index, and their counts agree.",
    ),
    # Errors and protocol.
    Requirement(
        "INTEG-001/errors/invalid-params",
        "An argument of the wrong type or range is answered with -32602 and the name of the field.",
    ),
    Requirement("INTEG-001/errors/not-found", "An id that no memory has is answered with -32010."),
    Requirement("INTEG-001/errors/storage", "A failure of the log is answered with -32004."),
    Requirement("INTEG-001/errors/embedding", "A failure of an embedder is answered with -32005."),
    Requirement(
        "INTEG-001/errors/internal", "Any other failure is answered with -32603, without the text of the exception."
    ),
    Requirement(
        "INTEG-001/errors/code-in-tool-answer",
        "A tool that fails sets isError and gives code, message and data in its structured content.",
    ),
    Requirement(
        "INTEG-001/protocol/official-client",
        "The official MCP client accepts every answer, those of failed calls included.",
    ),
    Requirement(
        "INTEG-001/protocol/server-lives-on",
        "Neither malformed JSON nor an unknown tool nor a refused call ends the session.",
    ),
    Requirement(
        "INTEG-001/methods/plain-json-rpc",
        "Each memory operation is also a JSON-RPC method under its name with a slash.",
    ),
    # memory/inject.
    Requirement(
        "INTEG-001/inject/parameters",
        "memory/inject takes content and, if wished, memory_type, namespace and metadata.",
    ),
    Requirement(
        "INTEG-001/inject/answer",
        "memory/inject answers with memory_id, embedders_generated 13 and created_at.",
    ),
    Requirement(
        "INTEG-001/inject/teleological-summary",
        "memory/inject answers with a summary of thirteen dimensions, none of them empty.",
    ),
    Requirement("INTEG-001/inject/empty-content", "Empty content is refused with -32602."),
    Requirement("INTEG-001/inject/blank-content", "Content of white space alone is refused like empty content."),
    Requirement("INTEG-001/inject/store-unchanged", "A refused memory leaves the number of stored memories as it was."),
    Requirement(
        "INTEG-001/inject/id-retrieves", "The id that a store answers with is a UUID by which the same memory is read."
    ),
    Requirement("INTEG-001/inject/content-hash", "A memory carries the SHA-256 of its content."),
    Requirement(
        "INTEG-001/inject/namespace-and-metadata", "Namespace and metadata given with a memory come back with it."
    ),
    Requirement(
        "INTEG-001/inject/latency-budget",
        "The time of an inject is measured beside its budget of 25 ms and one bare forward of the model.",
    ),
    Requirement(
        "INTEG-001/inject/latency-breakdown",
        "The times of each embedder, of the commit and of the indexes can be read, median and p95.",
    ),
    # memory/inject_batch.
    Requirement(
        "INTEG-001/inject_batch/partial-failure",
        "Of 100 memories with 5 invalid ones, 95 succeed and 5 fail, and the answer says so.",
    ),
    Requirement(
        "INTEG-001/inject_batch/store-grows",
        "A batch adds as many memories as it reports to have succeeded, and each can be read.",
    ),
    Requirement(
        "INTEG-001/inject_batch/item-report",
        "Every item of a batch is reported with its index, and with its id or its error.",
    ),
    Requirement(
        "INTEG-001/inject_batch/parallel",
        "The items of a batch are embedded together, with the vectors that each would get alone.",
    ),
    # memory/store, retrieve, search, delete.
    Requirement("INTEG-001/store/answer", "memory/store stores content and answers with the id of the memory."),
    Requirement(
        "INTEG-001/retrieve/whole-fingerprint",
        "Retrieving by id gives content, hash, the thirteen embeddings, purpose vector and Johari rows.",
    ),
    Requirement(
        "INTEG-001/retrieve/life",
        "A retrieved memory tells its dominant quadrants, the evolution of its purpose and its accesses.",
    ),
    Requirement("INTEG-001/retrieve/unknown-id", "Retrieving an id that no memory has is answered with -32010."),
    Requirement("INTEG-001/retrieve/malformed-id", "Retrieving by something that is no UUID is answered with -32602."),
    Requirement("INTEG-001/search/per-space-scores", "Every search result tells its score in each of the spaces."),
    Requirement(
        "INTEG-001/search/ranked",
        "memory/search answers with ranked results, each with its similarity and its strongest space.",
    ),
    Requirement(
        "INTEG-001/search/five-stages",
        "A search goes through sparse recall, E1 prefix, fusion, alignment and late interaction, in this order.",
    ),
    Requirement(
        "INTEG-001/search/stages-narrow",
        "Each stage of a search looks only at the candidates that the stage before let through.",
    ),
    Requirement("INTEG-001/delete/soft", "A soft delete takes a memory out of every search."),
    Requirement("INTEG-001/delete/hard", "A hard delete makes a memory unreadable and takes it out of every search."),
    Requirement("INTEG-001/delete/survives-restart", "A deleted memory stays deleted after a restart."),
    Requirement("INTEG-001/delete/unknown-id", "Deleting an id that no memory has is answered with -32010."),
    # memory/search_multi_perspective.
    Requirement(
        "INTEG-001/multi-perspective/rank-fusion",
        "It ranks by the sum of 1 / (k + rank) over the rankings of the spaces, k being 60 unless set.",
    ),
    Requirement(
        "INTEG-001/multi-perspective/only-those-asked",
        "Only the spaces that were asked for have a say.",
    ),
    # memory/compare.
    Requirement(
        "INTEG-001/compare/parameters",
        "memory_a and memory_b are required; include_per_embedder is false unless set.",
    ),
    Requirement(
        "INTEG-001/compare/answer",
        "It answers with overall_similarity, coherence and dominant_embedder.",
    ),
    Requirement(
        "INTEG-001/compare/per-embedder",
        "Thirteen entries, numbers or null, stand in the answer when asked for, and none otherwise.",
    ),
    Requirement(
        "INTEG-001/compare/unknown-id",
        "An unknown id is answered with -32010 and a message that says which of the two it was.",
    ),
    Requirement(
        "INTEG-001/compare/failure",
        "A comparison that fails is answered with -32603, never with similarity 0.",
    ),
    Requirement(
        "INTEG-001/compare/identical",
        "The same text stored twice at one instant scores at least .99 overall and in every space.",
    ),
    Requirement(
        "INTEG-001/compare/similar",
        "SYNTH-001 and SYNTH-002 score between .6 and .8 overall, with thirteen scores.",
    ),
    Requirement(
        "INTEG-001/comparator/strategies",
        "The comparator knows the seven strategies and one more, and they do not all give the same number.",
    ),
    Requirement("INTEG-001/comparator/coherence", "Coherence falls as the spaces disagree."),
    Requirement("INTEG-001/comparator/dominant", "The dominant embedder is the space with the highest score."),
    Requirement(
        "INTEG-001/comparator/late-interaction",
        "E12 is compared token by token: each takes its best partner (MaxSim), in both directions.",
    ),
    # memory/batch_compare.
    Requirement(
        "INTEG-001/batch_compare/ranked",
        "One reference is compared with many targets, and the answer ranks them.",
    ),
    Requirement(
        "INTEG-001/batch_compare/same-as-compare",
        "Each score of a batch is the one that a single comparison gives.",
    ),
    Requirement(
        "INTEG-001/batch_compare/unknown-reference",
        "An unknown reference is answered with -32010 and its id.",
    ),
    Requirement(
        "INTEG-001/batch_compare/unknown-target",
        "An unknown target is answered with -32010 and its id; none is left out silently.",
    ),
    Requirement(
        "INTEG-001/batch_compare/threshold",
        "The comparator can keep only the targets above a threshold.",
    ),
    # memory/similarity_matrix.
    Requirement(
        "INTEG-001/matrix/shape",
        "The answer has one row and one column for each id asked for, in the order of the ids.",
    ),
    Requirement("INTEG-001/matrix/symmetric", "The matrix is symmetric to float epsilon."),
    Requirement("INTEG-001/matrix/diagonal", "The diagonal is 1 to within .01."),
    Requirement("INTEG-001/matrix/repeated", "Two entries with the same content score at least .99."),
    Requirement(
        "INTEG-001/matrix/unknown-id",
        "An unknown id is answered with -32010 and the id; no row is dropped.",
    ),
    # The acceptance texts.
    Requirement(
        "INTEG-001/synth-001/e1", "E1 of SYNTH-001 is a dense vector of unit length and of the declared dimension."
    ),
    Requirement("INTEG-001/synth-001/e6", "E6 of SYNTH-001 has weight on quick, brown, fox, jumps, lazy and dog."),
    Requirement("INTEG-001/synth-001/e12", "E12 of SYNTH-001 has at least eight token vectors."),
    Requirement(
        "INTEG-001/synth-001/e13",
        "E13 of SYNTH-001 has weight on related terms that do not stand in the text.",
    ),
    Requirement(
        "INTEG-001/synth-001/same-instant",
        "The same text embedded twice for one instant scores at least .99 in every space.",
    ),
    Requirement("INTEG-001/synth-002/e1", "SYNTH-002 and SYNTH-001 score between .7 and .9 in E1."),
    Requirement("INTEG-001/synth-002/e6", "SYNTH-002 and SYNTH-001 score between .3 and .5 in E6."),
    Requirement("INTEG-001/synth-002/e12", "SYNTH-002 and SYNTH-001 score between .6 and .8 in E12."),
    Requirement(
        "INTEG-001/acceptance/real-client",
        "A real MCP client stores SYNTH-001, reads it back and finds it, with the real model.",
    ),
)

# Seed 001: store_memory.
SEED_001 = (
    # Parameters.
    Requirement(
        "STORE-001/schema",
        "tools/list shows content, importance, modality and tags with types and defaults; only content is required.",
    ),
    Requirement(
        "STORE-001/content-missing", "A call without content is refused with -32602 and a message that names it."
    ),
    Requirement("STORE-001/content-empty", 'Empty or blank content is refused with -32602: "Content cannot be empty".'),
    Requirement("STORE-001/content-longest", "Content of 65,536 characters is stored."),
    Requirement(
        "STORE-001/content-too-long",
        "Content of 65,537 characters is refused with -32602, and the message gives the limit.",
    ),
    Requirement("STORE-001/importance-default", "Importance is .5 unless given."),
    Requirement("STORE-001/importance-clamped", "An importance outside [0, 1] is clamped to the nearer end."),
    Requirement("STORE-001/importance-typed", "An importance that is no number is refused with -32602."),
    Requirement("STORE-001/modality-default", "Modality is text unless given."),
    Requirement(
        "STORE-001/modality-six",
        "Modality is text, code, image, audio, structured or mixed; anything else is refused with -32602.",
    ),
    Requirement("STORE-001/tags-default", "A memory has no tags unless they are given."),
    Requirement("STORE-001/tags-kept", "Tags given with a memory come back with it."),
    Requirement("STORE-001/tags-typed", "Tags that are no list of strings are refused with -32602."),
    Requirement("STORE-001/rationale-optional", "store_memory takes a rationale without asking for one, and keeps it."),
    Requirement("STORE-001/link-to-kept", "link_to draws a link from the new memory to each memory that it names."),
    Requirement(
        "STORE-001/link-to-unknown", "An unknown id in link_to is answered with -32010, and nothing is stored."
    ),
    # What is stored.
    Requirement("STORE-001/thirteen-embeddings", "Each store makes thirteen embeddings, and embedderCount says 13."),
    Requirement(
        "STORE-001/no-fusion", "The thirteen embeddings are kept as they are; no merged vector takes their place."
    ),
    Requirement(
        "STORE-001/duplicate-flagged",
        "The same content again makes a second memory, and the answer points to the first (duplicate_of).",
    ),
    Requirement("STORE-001/content-compressed", "The content is kept compressed with LZ4."),
    Requirement("STORE-001/content-returned", "The content comes back character for character."),
    Requirement(
        "STORE-001/content-with-fingerprint",
        "Content and fingerprint are one event, so that neither is ever stored without the other.",
    ),
    Requirement("STORE-001/persistent", "A stored memory can be read and found after a restart."),
    Requirement(
        "STORE-001/neutral-purpose", "Without a North Star a store succeeds, with a purpose vector of thirteen zeros."
    ),
    Requirement(
        "STORE-001/purpose-aligned",
        "With a North Star each entry of the purpose vector is the alignment with it in that space.",
    ),
    Requirement(
        "STORE-001/purpose-realigned",
        "When the North Star changes, the purpose vectors of all stored memories follow.",
    ),
    # The thirteen spaces.
    Requirement(
        "STORE-001/space/e1", "E1 brings texts that mean the same nearer to each other than to unrelated ones."
    ),
    Requirement(
        "STORE-001/space/e2", "E2 brings memories near that were made at nearly the same time, whenever one asks."
    ),
    Requirement("STORE-001/space/e3", "E3 brings memories near that share an hour, a weekday or a season."),
    Requirement("STORE-001/space/e4", "E4 brings memories near that stand at neighbouring places in their session."),
    Requirement(
        "STORE-001/space/e5", "E5 holds a memory twice, as a cause and as an effect, and direction makes a difference."
    ),
    Requirement(
        "STORE-001/space/e6",
        "E6 holds weights of a few out of some 30,000 terms, and shared words bring memories near.",
    ),
    Requirement("STORE-001/space/e7", "E7 is 1,536 wide and brings code of one shape near, whatever its names are."),
    Requirement("STORE-001/space/e8", "E8 is 384 wide and moves with the memories that a memory is linked to."),
    Requirement("STORE-001/space/e9", "E9 is 10,000 bits wide and hardly moves when a text gets a typing error."),
    Requirement(
        "STORE-001/space/e10",
        "E10 holds the content under its modality, so that the same words as text and as code differ.",
    ),
    Requirement("STORE-001/space/e11", "E11 is 384 wide and brings memories near that name the same entities."),
    Requirement("STORE-001/space/e12", "E12 holds one vector of 128 for each token."),
    Requirement("STORE-001/space/e13", "E13 holds weights over the 30,522 pieces of a vocabulary."),
    Requirement(
        "STORE-001/profile-full",
        "The full profile loads the seeds' own models, with the dimensions that the seeds name.",
    ),
    # The answer.
    Requirement("STORE-001/fingerprint-id", "fingerprintId is the UUID of the memory."),
    Requirement(
        "STORE-001/embedding-latency", "embeddingLatencyMs is a whole number of milliseconds that was measured."
    ),
    Requirement("STORE-001/envelope", "A success is one text item of JSON with isError false."),
    Requirement(
        "STORE-001/pulse-fields", "The pulse has entropy, coherence, learning_score, quadrant and suggested_action."
    ),
    Requirement(
        "STORE-001/pulse-on-every-answer", "Every tool answer carries _cognitive_pulse, also that of a failed call."
    ),
    Requirement(
        "STORE-001/pulse-live", "The pulse moves with what is stored: after varied stores it is not what it was."
    ),
    Requirement(
        "STORE-001/pulse-action", "The suggested action follows from the quadrant; for Open it is DirectRecall."
    ),
    Requirement(
        "STORE-001/embedding-failed",
        'A failing embedder is answered with -32005 and "Embedding failed", and nothing is stored.',
    ),
    Requirement("STORE-001/storage-failed", 'A failing log is answered with -32004 and "Storage failed".'),
    Requirement(
        "STORE-001/guidance", "The server's instructions tell an agent when to store, when to skip and when to link."
    ),
    # Purpose and workspace.
    Requirement(
        "STORE-001/goals-emerge",
        "The North Star is found in the stored memories themselves, and described in their terms.",
    ),
    Requirement(
        "STORE-001/drift",
        "Drift away from the North Star is measured over time and names the spaces that moved.",
    ),
    Requirement(
        "STORE-001/workspace/order-parameter",
        "Each candidate memory has an order parameter r in [0, 1] from its oscillators.",
    ),
    Requirement("STORE-001/workspace/ignites", "A memory whose r reaches .8 enters the workspace and is broadcast."),
    Requirement(
        "STORE-001/workspace/fades",
        "A memory whose r falls below .7 leaves the workspace and is queued for replay in a dream.",
    ),
    Requirement("STORE-001/workspace/hysteresis", "Between .7 and .8 a memory stays in or out as it was."),
    Requirement(
        "STORE-001/consciousness",
        "C is the product of integration, reflection and differentiation, each in [0, 1].",
    ),
)

# Seed 002: weighted search over all spaces.
SEED_002 = (
    # search/multi: the question.
    Requirement("S002/multi/query-text", "The query can be a text."),
    Requirement("S002/multi/query-embeddings", "The query can be a set of embeddings made elsewhere."),
    Requirement("S002/multi/query-missing", "A request without a query is refused with -32602."),
    Requirement(
        "S002/multi/query-type",
        "query_type is one of the six profiles or custom, semantic_search unless given.",
    ),
    Requirement(
        "S002/multi/weights-width",
        "Twelve weights are refused, and the error says that thirteen are expected.",
    ),
    Requirement("S002/multi/weights-range", "A weight outside [0, 1], or one that is no number, is refused."),
    Requirement(
        "S002/multi/weights-sum",
        "Weights that do not sum to 1 within .01 are refused with their sum and the weights.",
    ),
    Requirement("S002/multi/custom-weights", "Custom weights are applied, and reported as they were given."),
    Requirement("S002/multi/custom-without-weights", "query_type custom without weights is refused."),
    Requirement(
        "S002/multi/active-spaces",
        "Only the active spaces are searched; all thirteen are active unless some are named.",
    ),
    Requirement(
        "S002/multi/active-spaces-range",
        "A space outside 0 to 12 is refused with the index and the highest one.",
    ),
    Requirement("S002/multi/top-k", "top_k is 10 unless given, from 1 to 1,000, and no answer is longer."),
    Requirement(
        "S002/multi/min-similarity",
        "min_similarity is .5 unless given, from 0 to 1, and no result lies below it.",
    ),
    Requirement(
        "S002/multi/dimension",
        "An embedding of the wrong length is refused with space, expected and actual length.",
    ),
    # search/multi: the answer.
    Requirement("S002/multi/aggregate", "aggregate_similarity is the weighted mean over the active spaces."),
    Requirement("S002/multi/ranking", "The weights decide the ranking, not only the numbers shown."),
    Requirement(
        "S002/multi/per-embedder",
        "Each result has a score in [0, 1] for every space, by name, unless they are switched off.",
    ),
    Requirement(
        "S002/multi/top-spaces",
        "Each result names at most three spaces with their weighted share, the largest first.",
    ),
    Requirement(
        "S002/multi/purpose-alignment",
        "The alignment with the North Star stands in the results when asked for, and not otherwise.",
    ),
    Requirement(
        "S002/multi/metadata",
        "The answer tells profile, weights applied, spaces searched, candidates scanned and time taken.",
    ),
    Requirement("S002/multi/latency", "With warm indexes a search over all spaces is measured against 50 ms."),
    # search/single_space.
    Requirement(
        "S002/single-space/parameters",
        "space_index and query_embedding are required; top_k is 10, min_similarity 0.",
    ),
    Requirement(
        "S002/single-space/index",
        "A space index outside 0 to 12 is refused with the index and the highest one.",
    ),
    Requirement(
        "S002/single-space/dimension",
        "A query vector of the wrong length is refused with expected and actual length.",
    ),
    Requirement(
        "S002/single-space/own-space",
        "The search ranks by that space alone and finds what is nearest in the whole of it.",
    ),
    Requirement(
        "S002/single-space/limits",
        "No more than top_k results come back, and none below min_similarity.",
    ),
    # search/by_purpose.
    Requirement(
        "S002/by-purpose/ranked",
        "Memories are ranked by how near their purpose vectors are to the one given.",
    ),
    # search/weight_profiles.
    Requirement("S002/profiles/listed", "All profiles can be listed with their weights."),
    Requirement("S002/profiles/sums", "Every profile has thirteen weights that sum to 1 within .01."),
    Requirement("S002/profiles/semantic-search", "semantic_search gives E1 .30 and E7 .18."),
    Requirement("S002/profiles/causal-reasoning", "causal_reasoning weighs E5 most."),
    Requirement(
        "S002/profiles/code-search",
        "code_search weighs E7 most; the seed's row slipped by some places and is mended.",
    ),
    Requirement("S002/profiles/temporal-navigation", "temporal_navigation weighs E2, E3 and E4 most."),
    Requirement("S002/profiles/fact-checking", "fact_checking weighs E11 most."),
    Requirement("S002/profiles/balanced", "balanced weighs all spaces alike."),
    # Errors and tests.
    Requirement("S002/errors/execution", "A search that breaks down is answered with -32603."),
    Requirement("S002/errors/before-work", "Invalid input is refused before anything is embedded or searched."),
    Requirement("S002/tests/real-model", "The search tests embed with the real model."),
)

# Seed 003: consolidate_memories.
SEED_003 = (
    # The tool and its boundary.
    Requirement(
        "INTEG-013/arch-06/boundary",
        "The five tools of the boundary are listed, and nothing is reachable but by tools and methods.",
    ),
    Requirement(
        "INTEG-013/mode", "mode is light, deep or rem, light unless given; anything else is refused with -32602."
    ),
    Requirement(
        "INTEG-013/salience-threshold",
        "salience_threshold is .3 unless given; outside [0, 1] it is refused with -32602.",
    ),
    Requirement(
        "INTEG-013/max-memories",
        "max_memories caps how many memories are looked at; 0, the default, sets no limit.",
    ),
    Requirement("INTEG-013/dry-run-default", "dry_run is false unless given."),
    Requirement(
        "INTEG-013/answer",
        "The answer tells mode, the counts, new patterns, final count, duration and whether it was a dry run.",
    ),
    Requirement(
        "INTEG-013/pattern-fields",
        "A pattern has an id, a description, the number of its memories and a confidence.",
    ),
    Requirement("INTEG-013/empty-store", "On an empty store every mode succeeds, with all counts 0."),
    # Light.
    Requirement(
        "INTEG-013/light/duplicates",
        "Light merges memories whose similarity is above .95, and none at or below.",
    ),
    Requirement("INTEG-013/light/prunes", "Light prunes memories whose salience is below the threshold."),
    Requirement("INTEG-013/light/no-clusters", "Light reports no clusters and no patterns."),
    Requirement("INTEG-013/light/duration", "Light is done within 5 s at 10,000 memories."),
    # Deep.
    Requirement("INTEG-013/deep/duplicates", "Deep merges memories whose similarity is above .9."),
    Requirement(
        "INTEG-013/deep/salience",
        "Deep scores the salience of every memory that outlived the merge, and prunes by it.",
    ),
    Requirement("INTEG-013/deep/clusters", "Deep groups what is left into clusters and reports their number."),
    Requirement("INTEG-013/deep/links", "Deep links the members of a cluster; a dry run does not."),
    Requirement("INTEG-013/deep/duration", "Deep is done within 30 s at 10,000 memories."),
    # REM.
    Requirement("INTEG-013/rem/all-of-deep", "REM does all that deep does, and reports the same counts."),
    Requirement("INTEG-013/rem/patterns", "REM finds patterns by discovering goals, ten at the most."),
    Requirement("INTEG-013/rem/drift", "REM measures drift over the last hundred memories."),
    Requirement("INTEG-013/rem/goals", "REM adjusts the goals when drift is significant; a dry run does not."),
    Requirement("INTEG-013/rem/duration", "REM is done within 60 s at 10,000 memories."),
    # What can be relied on.
    Requirement("INTEG-013/dry-run-changes-nothing", "A dry run leaves every memory, link and goal as it was."),
    Requirement("INTEG-013/dry-run-counts", "A dry run reports the counts that the real run then has."),
    Requirement("INTEG-013/pruned-are-gone", "A pruned memory is found by no search."),
    Requirement(
        "INTEG-013/merged-into-one",
        "Of a set of duplicates one memory survives, with the tags, links and accesses of all.",
    ),
    Requirement("INTEG-013/merged-chains", "Duplicates of duplicates fall into one set with one survivor."),
    Requirement(
        "INTEG-013/time-left-out",
        "When a thing was said does not keep its duplicates apart: the temporal spaces have no vote.",
    ),
    Requirement("INTEG-013/undo", "A run can be undone, after which searches answer as they did before."),
    Requirement("INTEG-013/time-limit", "A run that reaches its time limit stops with nothing half done."),
    Requirement(
        "INTEG-013/rate-limit",
        "A second call within a minute in one session is refused with -32001 and retry_after_ms.",
    ),
    Requirement("INTEG-013/rate-limit-per-session", "A call in another session is not refused for it."),
    # Skills.
    Requirement(
        "INTEG-013/skills/four",
        "There are skills for memory-inject, semantic-search, goal-discovery and consolidate.",
    ),
    Requirement(
        "INTEG-013/skills/consolidate-front",
        "The consolidate skill names its model sonnet and only the tool consolidate_memories.",
    ),
    Requirement(
        "INTEG-013/skills/consolidate-process",
        "It says when to use which mode, to run dry first and to mind the rate limit.",
    ),
    Requirement("INTEG-013/skills/session-end", "A SessionEnd hook consolidates within its time limit."),
)

# Seed 004: inject_context.
SEED_004 = (
    # Parameters.
    Requirement(
        "TOOL-INJECT-001/schema",
        "tools/list shows content, rationale, modality and importance; content and rationale are required.",
    ),
    Requirement(
        "TOOL-INJECT-001/content-missing", "A call without content is refused with -32602 and a message that names it."
    ),
    Requirement(
        "TOOL-INJECT-001/content-blank", 'Empty or blank content is refused with -32602: "Content cannot be empty".'
    ),
    Requirement(
        "TOOL-INJECT-001/rationale-missing",
        "A call without a rationale is refused with -32602 and a message that names it.",
    ),
    Requirement("TOOL-INJECT-001/modality", "Modality is one of the six of store_memory, text unless given."),
    Requirement("TOOL-INJECT-001/importance", "Importance is .5 unless given, and clamped to [0, 1]."),
    Requirement(
        "TOOL-INJECT-001/unknown-tool",
        "A tool that does not exist is answered with -32601, since -32006 speaks of purpose.",
    ),
    # What it does.
    Requirement("TOOL-INJECT-001/stores", "inject_context stores; finding what was stored is left to search_graph."),
    Requirement("TOOL-INJECT-001/found", "An injected memory is found by search_graph."),
    Requirement("TOOL-INJECT-001/rationale-kept", "The rationale is kept with the memory and comes back with it."),
    Requirement(
        "TOOL-INJECT-001/atomic", "Judgement, embeddings, purpose and storage succeed together, or nothing is stored."
    ),
    Requirement("TOOL-INJECT-001/neutral-purpose", "Without a North Star the purpose vector is thirteen zeros."),
    Requirement(
        "TOOL-INJECT-001/johari-labels",
        "Each space of a memory is Open, Hidden, Blind or Unknown, and a new memory is not Unknown throughout.",
    ),
    Requirement(
        "TOOL-INJECT-001/purpose-failed",
        "A purpose vector that cannot be computed is answered with -32006, and nothing is stored.",
    ),
    Requirement(
        "TOOL-INJECT-001/embedding-failed",
        'A failing embedder is answered with -32005 and "Embedding failed", and nothing is stored.',
    ),
    Requirement("TOOL-INJECT-001/storage-failed", 'A failing log is answered with -32004 and "Storage failed".'),
    # The answer.
    Requirement(
        "TOOL-INJECT-001/fields", "The answer has fingerprintId, embedderCount 13 and a measured embeddingLatencyMs."
    ),
    Requirement("TOOL-INJECT-001/rationale-echoed", "The answer repeats the rationale."),
    Requirement(
        "TOOL-INJECT-001/utl-fields", "utl has learningScore, entropy, coherence and surprise, each in [0, 1]."
    ),
    Requirement(
        "TOOL-INJECT-001/utl/learning-score",
        "learningScore is the sigmoid of 2 * entropy * coherence * emotional weight * cos(phase).",
    ),
    Requirement(
        "TOOL-INJECT-001/utl/entropy",
        "Entropy is high for what is new to the store and low for what repeats it.",
    ),
    Requirement(
        "TOOL-INJECT-001/utl/coherence",
        "Coherence is higher for a memory with related neighbours than for one without.",
    ),
    Requirement("TOOL-INJECT-001/utl/surprise", "Surprise is a signal of its own, not a copy of entropy."),
    Requirement(
        "TOOL-INJECT-001/pulse/trigger-dream",
        "Entropy above .7 with coherence below .4 makes the pulse suggest a dream.",
    ),
    # Workspace.
    Requirement(
        "TOOL-INJECT-001/oscillators",
        "A memory has thirteen oscillators, one for each space, which lock when the spaces agree.",
    ),
    Requirement("TOOL-INJECT-001/differentiation", "D is the entropy over the thirteen entries of a fingerprint."),
    Requirement(
        "TOOL-INJECT-001/meta-utl",
        "Predictions of usefulness are scored against later recalls, and that accuracy is R.",
    ),
    Requirement(
        "TOOL-INJECT-001/broadcast",
        "What enters the workspace changes the next searches in a way that their explanation shows.",
    ),
    Requirement("TOOL-INJECT-001/causal-path", "find_causal_path finds a chain of causes between two memories."),
)

REQUIREMENTS = (
    *SEED_000,
    *SEED_001,
    *SEED_002,
    *SEED_003,
    *SEED_004,
)
