/* prove_internal.h - state of one exhaustive run, shared by prove.c, prove_plan.c and prove_tree.c. */
#ifndef ASSAY_PROVE_INTERNAL_H
#define ASSAY_PROVE_INTERNAL_H

#include "prove.h"
#include "sweep.h"

/* What a segment's checks are; a run plans only those that were asked for. */
typedef enum prove_kind { PROVE_DIGEST, PROVE_PARITY, PROVE_ACCURACY, PROVE_KINDS } prove_kind;
typedef struct prove_kind_text {
    const char *suite, *promise, *relation, *text;
} prove_kind_text;
extern const prove_kind_text assay_prove_kinds[PROVE_KINDS];

typedef struct prove_state {
    assay_runner runner;
    assay_domain domain;
    assay_sweep sweep;
    const assay_prove_options *options;
    assay_prove_report *report;
    assay_store *store;
    bool wanted[PROVE_KINDS];
    unsigned wanted_count;
    uint64_t first_tile, tiles, segments;
    assay_tile *tree;     /* digests of this shard's tiles */
    assay_tile *recorded; /* the tree compared with, NULL when none */
    bool has_root_check;
} prove_state;

/* ---- prove_plan.c ---- */
/* Sets the range of tiles of this shard, cut at segment borders so that shards and the whole run share
 * segments. */
void assay_prove_cut_shard(prove_state *p);
/* Number of the check of this kind of this segment; of the check of the whole tree. */
int64_t assay_prove_seq(const prove_state *p, uint64_t segment, prove_kind kind);
int64_t assay_prove_root_seq(const prove_state *p);
/* The tile after the last of a segment of this shard. */
uint64_t assay_prove_segment_end(const prove_state *p, uint64_t segment);
/* Starts a run with its plan. */
assay_code assay_prove_begin(prove_state *p, assay_error *error);
/* Takes up an interrupted run: it must have been started with the same files, shard and comparison. */
assay_code assay_prove_resume(prove_state *p, assay_error *error);
/* True when the run that is resumed has the outcome of this check. */
bool assay_prove_finished(const prove_state *p, int64_t seq);

/* ---- prove_tree.c ---- */
/* Takes the tiles of a segment that an interrupted run finished from the database. True when segment `number`
 * is there; one that could not be judged has no tiles. */
bool assay_prove_reload(prove_state *p, uint64_t number, assay_error *error);
/* The root of this shard's tree as hex. */
void assay_prove_root(const prove_state *p, char hex[65]);
/* Loads the candidate tree of the latest prove run of the database to compare with that covers this shard's
 * tiles; nothing to do when there is none. */
assay_code assay_prove_load_recorded(prove_state *p, assay_error *error);
/* The check of the whole tree against a root or a recorded tree, when one is asked for. */
assay_code assay_prove_compare_tree(prove_state *p, assay_error *error);

#endif
