/* engine.h - the choice of kernels of the libm adapter. */
#ifndef ASSAY_LIBM_ENGINE_H
#define ASSAY_LIBM_ENGINE_H

#include "rows.h"

const sinusoid_engine *libm_engine(void);

#endif
