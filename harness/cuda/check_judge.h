/* check_judge.h - what the parts of check_judge share. check_judge runs on a machine with a GPU: it holds
 * every function of the plugin against the judge on the CPU, one line PASS or FAIL for each check. */
#ifndef ASSAY_CHECK_JUDGE_H
#define ASSAY_CHECK_JUDGE_H

#include "device.h"
#include "dtype.h"
#include "operator.h"
#include "philox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct check {
    const assay_device_plugin *plugin;
    assay_device *device;
    assay_device_arena arena[2]; /* of the candidate and of the baseline */
    unsigned passed, failed;
    uint64_t random; /* words of the stream used up so far */
} check;

/* Prints one line. */
void check_report(check *c, bool good, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* False, with a FAIL line, when the code is not OK. */
bool check_code(check *c, assay_code code, const assay_error *error, const char *what);
/* n random words; ends the process when memory is short. */
uint32_t *check_random(check *c, size_t n);
void *check_alloc(size_t bytes);

void check_accuracy(check *c); /* check_judge_accuracy.c */
/* Rates of the judge over 4 GiB. `candidate` is a CUDA implementation that makes the words (or NULL: words of
 * no meaning), check_judge_bench.c */
void check_bench(check *c, const char *candidate);

#endif
