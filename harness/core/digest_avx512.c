#include "digest_private.h"
void assay_strip_add_avx512(const assay_strip *strip, uint64_t sum[2]) {
    assay_strip_add_scalar(strip, sum);
}
