/* merge_internal.h - shared by merge.c and merge_copy.c. */
#ifndef ASSAY_MERGE_INTERNAL_H
#define ASSAY_MERGE_INTERNAL_H

#include "store_internal.h"

/* One finished run that covers some tiles. */
typedef struct assay_shard {
    assay_store *store; /* opened for reading; owned by the merge */
    const char *path;
    int64_t run_id;
    char uuid[33], leaf[65];
    uint64_t first_tile, tiles, all_tiles;
    char name[160]; /* "run 3 (1a2b3c4d) of 'x.db'", for messages */
} assay_shard;

/* merge_copy.c: writes the new run from the shards (sorted by first tile, compatible, complete) inside the
 * caller's transaction. `shards_id` marks the new run (provenance key merge.shards). */
assay_code assay_merge_copy(assay_store *target, const assay_shard *shards, size_t count,
                            const char *shards_id, int64_t *run_id, char root_hex[65], assay_error *error);
/* The first row of a query with ?1 = run id on a shard, column 0 as text (sqlite3_free); "" when there is no
 * row, NULL on failure. */
char *assay_shard_text(const assay_shard *shard, const char *sql, assay_error *error);

#endif
