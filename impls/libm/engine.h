/* engine.h - which kernels the libm adapter may use on this system. */
#ifndef ASSAY_LIBM_ENGINE_H
#define ASSAY_LIBM_ENGINE_H

#include "rows.h"

/* True when `rows` gives the bits of `sine` and `cosine` on every fingerprint argument: those next to a
 * rounding tie, the quadrant border, and a stride through all of [0, 1]. */
bool libm_fingerprint(sinusoid_rows rows, float (*sine)(float), float (*cosine)(float));

/* The engine: scalar, and each vector path whose fingerprint agrees with the system's sinf and cosf. Decided
 * once per process; any thread may call. */
const sinusoid_engine *libm_engine(void);

#endif
