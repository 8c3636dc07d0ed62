/* replay.c - op-for-op re-creation of the FP32 sequence, for each lineage whose elementary functions we have.
 *
 * Forward, every operation rounded to FP32 on its own:
 *     c = float(-ln(max_period))   inv = 1 / float(half)
 *     freq[k] = EXP((c * float(k)) * inv)       a = t * freq[k]       out[k] = COS(a)    out[half+k] = SIN(a)
 * Backward, sines and cosines taken from the saved output:
 *     p[k] = -(g[k] * saved[half+k]) * freq[k]             p[half+k] = (g[half+k] * saved[k]) * freq[k]
 *     pad p with +0 to a power of two; while it is longer than 1: p[i] = p[i] + p[i + length/2], i < length/2
 *     grad = p[0]
 * The multiplication by the reciprocal is the provider's: a division differs for halves that are no power of
 * two. */
#include "sinusoid.h"

#include <math.h>
#include <stdlib.h>

/* What tells the lineages apart. */
typedef struct lineage {
    const char *name;
    float (*exp)(float x);
    void (*row)(float t, const float *freq, float largest, size_t n, float *cosine, float *sine);
} lineage;

/* Two loops, so that no compiler merges sinf and cosf into a sincosf of its own. */
static void libm_row(float t, const float *freq, float largest, size_t n, float *cosine, float *sine) {
    (void)largest;
    for (size_t k = 0; k < n; k++) {
        cosine[k] = cosf(t * freq[k]);
    }
    for (size_t k = 0; k < n; k++) {
        sine[k] = sinf(t * freq[k]);
    }
}

static const lineage lineages[] = {
    {"h3-cuda", sinusoid_cuda_expf, sinusoid_cuda_row},
    {"libm", expf, libm_row},
};

static const lineage *lineage_find(const char *name) {
    for (size_t i = 0; i < sizeof lineages / sizeof lineages[0]; i++) {
        if (strcmp(lineages[i].name, name) == 0) {
            return &lineages[i];
        }
    }
    return NULL;
}

static void frequencies_f32(const lineage *l, sinusoid_attrs a, float *freq) {
    float c = (float)-log(a.max_period);
    float inv = 1.0F / (float)a.half;
    for (size_t k = 0; k < a.half; k++) {
        freq[k] = l->exp(c * (float)k * inv);
    }
}

bool sinusoid_replay(const char *name, const assay_attrs *attrs, const float *x, size_t rows, float *out) {
    const lineage *l = lineage_find(name);
    if (l == NULL) {
        return false;
    }
    sinusoid_attrs a = sinusoid_attrs_read(attrs);
    float *freq = sinusoid_alloc(a.half, sizeof *freq);
    frequencies_f32(l, a, freq);
    float largest = 0.0F;
    for (size_t k = 0; k < a.half; k++) {
        largest = fmaxf(largest, freq[k]);
    }
    for (size_t r = 0; r < rows; r++) {
        float *row = out + r * 2 * a.half;
        l->row(x[r], freq, largest, a.half, row, row + a.half);
    }
    free(freq);
    return true;
}

/* The pairwise tree over `length` (a power of two) values; overwrites them. */
static float tree_sum(float *p, size_t length) {
    for (size_t half = length / 2; half > 0; half /= 2) {
        for (size_t i = 0; i < half; i++) {
            p[i] = p[i] + p[i + half];
        }
    }
    return p[0];
}

bool sinusoid_replay_backward(const char *name, const assay_attrs *attrs, const float *x, const float *saved,
                              const float *upstream, size_t rows, float *grad) {
    const lineage *l = lineage_find(name);
    if (l == NULL) {
        return false;
    }
    (void)x; /* the saved output holds all that is needed of the timestep */
    sinusoid_attrs a = sinusoid_attrs_read(attrs);
    size_t length = 1;
    while (length < 2 * a.half) {
        length *= 2;
    }
    float *freq = sinusoid_alloc(a.half, sizeof *freq);
    float *p = sinusoid_alloc(length, sizeof *p);
    frequencies_f32(l, a, freq);
    for (size_t r = 0; r < rows; r++) {
        const float *g = upstream + r * 2 * a.half;
        const float *s = saved + r * 2 * a.half;
        for (size_t k = 0; k < a.half; k++) {
            p[k] = -(g[k] * s[a.half + k]) * freq[k];
            p[a.half + k] = g[a.half + k] * s[k] * freq[k];
        }
        memset(p + 2 * a.half, 0, (length - 2 * a.half) * sizeof *p);
        grad[r] = tree_sum(p, length);
    }
    free(p);
    free(freq);
    return true;
}
