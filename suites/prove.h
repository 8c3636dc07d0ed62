/* prove.h - every value of the domain: digests, parity against another implementation or a recorded tree,
 * accuracy with the complete ulp histogram. Resumable by segments, shardable, same digest for any number of
 * threads. */
#ifndef ASSAY_PROVE_H
#define ASSAY_PROVE_H

#include "digest.h"
#include "runner.h"

typedef struct assay_prove_options {
    assay_certify_options base; /* kind "prove"; baseline = the implementation to compare with, or none */
    const char *against_root;   /* 64 hex digits, or NULL */
    const char
        *against_database; /* path of a database whose latest digest tree is compared tile by tile, or NULL */
    bool accuracy;
    unsigned shard, shards;  /* shard I of N, counted from 0; shards 0 or 1 = all */
    uint64_t limit_segments; /* 0 = all; for benchmarks and tests: only the first N segments of the shard */
} assay_prove_options;

typedef struct assay_prove_report {
    int64_t run_id;
    char uuid[33];
    char root[65];      /* over the tiles of this shard; "" when a segment could not be judged */
    uint64_t outputs;   /* elements of the judged segments, resumed ones included */
    uint64_t differing; /* against the baseline or, for a tree, outputs of differing tiles are not counted:
                           see tiles_differing */
    uint64_t outside;   /* accuracy: outputs outside the tolerance */
    uint64_t tiles, tiles_differing, first_differing_tile;
    bool root_differs;
    bool complete;                /* all tiles of the domain are covered and judged */
    bool changed;                 /* a file was changed or replaced during the run: nothing is proved */
    uint64_t unswept;             /* segments that could not be judged */
    uint64_t worker_ns, judge_ns; /* on a GPU: device time of this invocation's segments */
    uint64_t failed, unjudged;    /* checks with outcome fail; checks without pass or fail */
    assay_verdict verdict;
    char reason[256];
} assay_prove_report;

assay_code assay_prove(assay_store *store, const assay_prove_options *options, assay_prove_report *report,
                       assay_error *error);

#define ASSAY_SEGMENT_TILES 64u

#endif
