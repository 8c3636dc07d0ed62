/* recorder.h - collects what a check records until the runner stores it in one transaction. Private to
 * suites. */
#ifndef ASSAY_RECORDER_H
#define ASSAY_RECORDER_H

#include "store.h"

typedef struct assay_recorder assay_recorder;

assay_recorder *assay_recorder_new(void);
void assay_recorder_free(assay_recorder *recorder);
/* Forgets everything recorded so far. */
void assay_recorder_clear(assay_recorder *recorder);
/* Points the record's detail arrays at what was recorded; valid until the next record or clear. */
void assay_recorder_fill(const assay_recorder *recorder, assay_check_record *record);
/* Adds a digest tile. */
void assay_recorder_tile(assay_recorder *recorder, const assay_tile_record *tile);

#endif
