/* test_paths.h - for tests: the paths of an engine against its scalar path. */
#ifndef ASSAY_IMPL_TEST_PATHS_H
#define ASSAY_IMPL_TEST_PATHS_H

#include "sinusoid.h"

/* Every `step`-th bit pattern of [first, last] as the argument of cos and sin, each vector path against the
 * scalar one, on two threads. Asserts that 0 outputs differ and returns the number of arguments. */
uint64_t test_paths_sweep(const sinusoid_engine *engine, uint32_t first, uint32_t last, uint32_t step);

/* Whole rows through the entry points, each path forced in turn: widths, types, strides, alignments, values
 * in and (check off) outside of the domain; every byte of the output buffer, gaps included, and of the
 * gradient. `nan_payload`: NaN outputs must agree in their bits too. Asserts. */
void test_paths_rows(const sinusoid_engine *engine, assay_entry forward, assay_entry backward,
                     bool nan_payload);

#endif
