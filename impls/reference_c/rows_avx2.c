/* rows_avx2.c - the vector kernel for AVX2 with FMA. */
#if defined(__x86_64__)
#include "rows_simd.h"
#else
typedef int rows_avx2_not_here;
#endif
