/* sweep.h - the engine of `prove`: drives the lanes over a range of tiles. Private to suites. */
#ifndef ASSAY_SWEEP_H
#define ASSAY_SWEEP_H

#include "digest.h"
#include "prove.h"
#include "runner_internal.h"

#define ASSAY_SWEEP_CHUNK                                                                                    \
    4096u /* rows per call: 4 MiB of output at width 256 stays in the last-level cache */

/* The domain as an ordered list of bit-pattern intervals, cut into tiles interval by interval. */
typedef struct assay_domain {
    struct {
        uint32_t lo, hi;
        uint64_t first_tile, tiles;
    } interval[8];
    size_t count;
    uint64_t rows, tiles;
} assay_domain;

typedef struct assay_tile_place {
    uint32_t first_bits; /* bit pattern of the tile's row 0 */
    uint64_t rows;
} assay_tile_place;

/* Reads contract.domain.intervals. */
assay_code assay_domain_read(const assay_contract *contract, assay_domain *domain, assay_error *error);
assay_tile_place assay_domain_tile(const assay_domain *domain, uint64_t tile);

/* What one segment (consecutive tiles) yielded. */
typedef struct assay_segment {
    uint64_t first_tile, tiles, outputs;
    assay_tile digest[ASSAY_SEGMENT_TILES];
    assay_parity parity; /* when a baseline is compared; index = row inside the domain tile range * channels +
                            channel */
    assay_accuracy accuracy; /* when accuracy is asked for */
    char trouble[256]; /* "" or why the segment could not be judged (lost worker, wrong status, unwritten
                          rows) */
    assay_outcome trouble_outcome;
    bool judges_disagree;
    uint64_t worker_ns, judge_ns; /* on a GPU: device time of the implementations and of the judge */
} assay_segment;

typedef struct assay_sweep {
    assay_runner *runner;
    const assay_domain *domain;
    assay_attrs attrs;
    size_t channels;
    bool parity, accuracy;
    const assay_tolerance *tolerance; /* accuracy */
} assay_sweep;

/* Runs tiles [segment->first_tile, +tiles) over all lanes. False for faults of the harness. */
bool assay_sweep_segment(const assay_sweep *sweep, assay_segment *segment, assay_error *error);
/* The same for implementations with CUDA memory, on lane 0, judged on the GPU (sweep_device.c). */
bool assay_sweep_segment_device(const assay_sweep *sweep, assay_segment *segment, assay_error *error);
/* Row of an element index of a segment, as input bits. */
uint32_t assay_sweep_input_bits(const assay_sweep *sweep, const assay_segment *segment, uint64_t index);

#endif
