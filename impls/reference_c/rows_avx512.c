/* rows_avx512.c - the vector kernel for AVX-512. */
#if defined(__x86_64__)
#include "rows_simd.h"
#else
typedef int rows_avx512_not_here;
#endif
