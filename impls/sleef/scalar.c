/* scalar.c - the choice of libsleef's scalar family. */
#include "scalar.h"

#include "cpu_path.h"

#include <sleef.h>

#if !defined(FP_FAST_FMAF)
/* sleef.h shows these only to files compiled with -mfma; the library has them whatever we are compiled with.
 */
extern float Sleef_finz_sinf1_u10purecfma(float);
extern float Sleef_finz_cosf1_u10purecfma(float);
extern float Sleef_finz_expf1_u10purecfma(float);
#endif

static const sleef_functions with_fma = {.sine = Sleef_finz_sinf1_u10purecfma,
                                         .cosine = Sleef_finz_cosf1_u10purecfma,
                                         .exponential = Sleef_finz_expf1_u10purecfma};
static const sleef_functions without_fma = {.sine = Sleef_cinz_sinf1_u10purec,
                                            .cosine = Sleef_cinz_cosf1_u10purec,
                                            .exponential = Sleef_cinz_expf1_u10purec};

const sleef_functions *sleef_scalar(void) {
    return cpu_path_available(CPU_PATH_AVX2) ? &with_fma : &without_fma;
}
