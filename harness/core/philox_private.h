/* philox_private.h - the two functions of the normal map, for its test. Specified in harness/GENERATOR.md
 * section 5. */
#ifndef ASSAY_PHILOX_PRIVATE_H
#define ASSAY_PHILOX_PRIVATE_H

#include <stdint.h>

double assay_philox_log(uint32_t w); /* log((w + 1/2) * 2^-32) */
double assay_philox_cos(uint32_t w); /* cos(2 pi w 2^-32) */

#endif
