/* judge.cu - judge(): hands the parts of a judgment to the kernels that share a pass over the data. */
#include "cuda_private.h"

#include <cstring>
#include <exception>

static const assay_cuda_golden *golden_find(const char *op) {
    for (const assay_cuda_golden *const *g = assay_cuda_goldens; op != nullptr && *g != nullptr; g++) {
        if (strcmp((*g)->op, op) == 0) {
            return *g;
        }
    }
    return nullptr;
}

bool assay_cuda_has_golden(const char *op) {
    return golden_find(op) != nullptr;
}

static assay_code judge_parts(assay_device *d, const assay_device_judgment *what, assay_error *error) {
    assay_device_judgment rest = *what;
    if (what->rows == 0 || what->channels == 0 || (uintptr_t)what->got % 256 != 0) {
        return assay_fail(error, ASSAY_CODE_INTERNAL,
                          "device judge: no rows, no channels, or misaligned words");
    }
    if (what->rows > (uint64_t)JUDGE_ROWS << 24 || what->channels > (size_t)1 << 21) {
        return assay_fail(error, ASSAY_CODE_INTERNAL, "device judge: more than 2^34 rows or 2^21 channels");
    }
    if (what->accuracy != nullptr) {
        const assay_cuda_golden *golden = golden_find(what->op);
        if (golden == nullptr) {
            return assay_fail(error, ASSAY_CODE_INCOMPLETE, "operator %s has no golden on the GPU",
                              what->op == nullptr ? "?" : what->op);
        }
        /* The digest is left to a pass of its own: the golden's kernel is bound by arithmetic, the digest's
         * by memory. */
        CODE_TRY(golden->measure(d, what, error));
    }
    if (rest.parity != nullptr) {
        return assay_cuda_parity(d, &rest, error);
    }
    return rest.tiles != nullptr ? assay_cuda_digest(d, &rest, error) : ASSAY_CODE_OK;
}

assay_code assay_cuda_judge(assay_device *d, const assay_device_judgment *what, assay_error *error) {
    try {
        return judge_parts(d, what, error);
    } catch (const std::exception &e) {
        return assay_fail(error, ASSAY_CODE_INTERNAL, "device judge: %s", e.what());
    }
}
