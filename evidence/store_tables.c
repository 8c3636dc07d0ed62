/* store_tables.c - the list of store_tables.h as an array. */
#include "store_tables.h"

/* The four tables whose rows are not sealed with their run: see store_tables.h. */
#define UNSEALED(id)                                                                                         \
    ((id) == ASSAY_TABLE_contract || (id) == ASSAY_TABLE_run || (id) == ASSAY_TABLE_run_result ||            \
     (id) == ASSAY_TABLE_run_log)

const assay_table assay_tables[ASSAY_TABLE_COUNT] = {
#define X(name, keys, unique, scope)                                                                         \
    {#name, keys, unique, scope, ASSAY_TABLE_##name != ASSAY_TABLE_run_log, !UNSEALED(ASSAY_TABLE_##name)},
    ASSAY_TABLE_LIST(X)
#undef X
};
