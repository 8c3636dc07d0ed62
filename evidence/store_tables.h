/* store_tables.h - the one list of evidence tables. It yields the append-only triggers, the INSERT
 * statements, the order of the leaf stream (LOG.md) and the walk of `assay verify`. Columns are read from
 * schema.sql itself, never repeated here. */
#ifndef ASSAY_STORE_TABLES_H
#define ASSAY_STORE_TABLES_H

#include <stdbool.h>
#include <stddef.h>

/* X(table, primary key, second unique key or "", scope). Scope is the SQL condition that selects the rows of
 * run ?1. The order is the order of schema.sql and of the leaf stream; run_result and run_log are written
 * last. */
#define ASSAY_OWNED "run_id=?1"
#define ASSAY_TABLE_LIST(X)                                                                                  \
    X(contract, "id", "sha256", "id=(SELECT contract_id FROM run WHERE id=?1)")                              \
    X(run, "id", "uuid", "id=?1")                                                                            \
    X(provenance, "run_id,key", "", ASSAY_OWNED)                                                             \
    X(binary, "run_id,role", "", ASSAY_OWNED)                                                                \
    X(knob, "run_id,role,name", "", ASSAY_OWNED)                                                             \
    X(promise, "run_id,name", "", ASSAY_OWNED)                                                               \
    X(stage, "id", "run_id,ordinal", ASSAY_OWNED)                                                            \
    X(fixture, "id", "", ASSAY_OWNED)                                                                        \
    X(check_plan, "run_id,seq", "run_id,name", ASSAY_OWNED)                                                  \
    X(check_start, "run_id,seq,attempt", "", ASSAY_OWNED)                                                    \
    X(check_outcome, "run_id,seq", "", ASSAY_OWNED)                                                          \
    X(metric, "run_id,seq,name", "", ASSAY_OWNED)                                                            \
    X(ulp_histogram, "run_id,seq,subject,exponent,distance", "", ASSAY_OWNED)                                \
    X(element, "run_id,seq,kind,rank", "", ASSAY_OWNED)                                                      \
    X(profile, "run_id,seq,subject,bin", "", ASSAY_OWNED)                                                    \
    X(series, "run_id,seq,callable", "", ASSAY_OWNED)                                                        \
    X(digest_tree, "run_id,name", "", ASSAY_OWNED)                                                           \
    X(digest_tile, "run_id,name,number", "", ASSAY_OWNED)                                                    \
    X(witness, "run_id,seq,ordinal", "", ASSAY_OWNED)                                                        \
    X(selftest, "run_id,subject,suite", "", ASSAY_OWNED)                                                     \
    X(promise_result, "run_id,name", "", ASSAY_OWNED)                                                        \
    X(run_result, "run_id", "", ASSAY_OWNED)                                                                 \
    X(run_log, "idx", "run_id", ASSAY_OWNED)

typedef enum assay_table_id {
#define X(name, keys, unique, scope) ASSAY_TABLE_##name,
    ASSAY_TABLE_LIST(X)
#undef X
        ASSAY_TABLE_COUNT
} assay_table_id;

typedef struct assay_table {
    const char *name, *keys, *unique, *scope;
    bool hashed; /* has row_hash and belongs to the leaf: all but run_log, which holds the leaf */
    bool sealed; /* INSERT is refused once the run has its run_result: the run's own rows, except contract,
                    run_result, run_log */
} assay_table;

extern const assay_table assay_tables[ASSAY_TABLE_COUNT];

#endif
