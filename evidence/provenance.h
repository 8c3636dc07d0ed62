/* provenance.h - collects what a verdict depends on: this machine, this build and the candidate's
 * tree. */
#ifndef ASSAY_PROVENANCE_H
#define ASSAY_PROVENANCE_H

#include "error.h"
#include "store.h"

typedef struct assay_provenance assay_provenance;

/* Collects: assay.version, assay.commit, assay.dirty (yes, no, unknown; baked in at build time),
 * assay.source_sha256, assay.compiler, assay.flags; candidate.commit, candidate.dirty, candidate.source (the
 * git repository around `candidate_path` or `source_dir` when not NULL; untracked files count as dirty; a
 * candidate built inside Assay's own tree takes that tree, and one that a bundle's manifest names takes the
 * tree that the bundle was built from); cpu.model, cpu.features, cpu.count, os.kernel, os.name, libc.version,
 * load.average, mxcsr, env.* (relevant variables only: CUDA_*, NVCC_*, OMP_*, LD_PRELOAD, MALLOC_*, TORCH_*,
 * GLIBC_TUNABLES), time. Never fails for a missing piece: the value is "unknown". */
assay_code assay_provenance_collect(const char *candidate_path, const char *source_dir,
                                    assay_provenance **provenance, assay_error *error);
void assay_provenance_free(assay_provenance *provenance);
/* Adds or replaces one entry. */
void assay_provenance_set(assay_provenance *provenance, const char *key, const char *value);
const char *assay_provenance_get(const assay_provenance *provenance, const char *key); /* NULL when absent */
const assay_pair *assay_provenance_pairs(const assay_provenance *provenance,
                                         size_t *count); /* sorted by key */

#endif
