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

/* sleef.h declares a `const float` result, which makes another function type; hence a wrapper for each. */
#define WRAP(name, function)                                                                                 \
    static float name(float x) {                                                                             \
        return function(x);                                                                                  \
    }
WRAP(fma_sine, Sleef_finz_sinf1_u10purecfma)
WRAP(fma_cosine, Sleef_finz_cosf1_u10purecfma)
WRAP(fma_exponential, Sleef_finz_expf1_u10purecfma)
WRAP(plain_sine, Sleef_cinz_sinf1_u10purec)
WRAP(plain_cosine, Sleef_cinz_cosf1_u10purec)
WRAP(plain_exponential, Sleef_cinz_expf1_u10purec)

static const sleef_functions with_fma = {fma_sine, fma_cosine, fma_exponential};
static const sleef_functions without_fma = {plain_sine, plain_cosine, plain_exponential};

const sleef_functions *sleef_scalar(void) {
    return cpu_path_available(CPU_PATH_AVX2) ? &with_fma : &without_fma;
}
