#include "compare_private.h"
const assay_judge assay_judge_avx2 = {0}, assay_judge_avx512 = {0};
