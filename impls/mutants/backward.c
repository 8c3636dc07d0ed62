/* backward.c - the promised arithmetic of the gradient (h3.md 1.1), with the switch points of the gradient
 * faults.
 *
 *   p[k] = -(g[k] * s[k]) * f[k]         s, c: sin and cos half of the saved output
 *   p[half + k] = (g[half + k] * c[k]) * f[k]
 *   grad = pairwise tree over p, zero-padded to a power of two: new[i] = p[i] + p[i + n/2]
 *
 * one FP32 operation each, one cast to the dtype of the timestep at the end. */
#include "mutant.h"

#include <math.h>
#include <stdlib.h>

static int64_t power_of_two(int64_t n) {
    int64_t p = 1;
    while (p < n) {
        p *= 2;
    }
    return p;
}

static float upstream(const mutant_args *a, int64_t row, int64_t column) {
    if (IS(null_other_seed)) {
        return (float)((int32_t)((uint32_t)(row * 257 + column) * 2654435761u) >> 8) * 0x1p-22f;
    }
    return IS(grad_ones) ? 1.0f : mutant_get2(a->upstream, IS(grad_row_zero) ? 0 : row, column);
}

/* The saved sine (or cosine) of frequency k. */
static float saved(const mutant_args *a, const float *f, int64_t row, int64_t k, bool sine) {
    if (IS(grad_recomputed)) {
        double x = (double)mutant_timestep(a, row) * (double)f[k];
        return (float)(sine ? sin(x) : cos(x));
    }
    return mutant_get2(a->saved, row, (sine != IS(grad_swapped) ? a->half : 0) + k);
}

static float inner(const float *f, int64_t k) {
    return IS(grad_no_f) ? 1.0f : IS(grad_f_twice) ? f[k] * f[k] : f[k];
}

static void contributions(const mutant_args *a, const float *f, int64_t row, float *p) {
    for (int64_t k = 0; k < a->half; k++) {
        float gs = upstream(a, row, k) * saved(a, f, row, k, true);
        float gc = upstream(a, row, a->half + k) * saved(a, f, row, k, false);
        float first = (IS(grad_sign) ? gs : -gs) * inner(f, k), second = gc * inner(f, k);
        if (IS(grad_fma)) { /* the first addition of the tree swallows the product */
            first = fmaf(gc, inner(f, k), first);
            second = 0.0f;
        }
        p[k] = first;
        p[a->half + k] = IS(grad_cos_only) ? 0.0f : second;
    }
}

static float tree(float *p, int64_t n) {
    for (int64_t width = n; width > 1; width /= 2) {
        for (int64_t i = 0; i < width / 2; i++) {
            if (IS(grad_tree_adjacent)) {
                p[i] = p[2 * i] + p[2 * i + 1];
            } else if (IS(grad_bf16_sum)) {
                p[i] = mutant_from_bf16(mutant_bf16(p[i] + p[i + width / 2]));
            } else {
                p[i] = p[i] + p[i + width / 2];
            }
        }
    }
    return p[0];
}

static float sequential(const float *p, int64_t n) {
    float sum = 0.0f;
    for (int64_t i = 0; i < n; i++) {
        sum += p[i];
    }
    return sum;
}

static float wide_sum(const float *p, int64_t n) {
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) {
        sum += (double)p[i];
    }
    return (float)sum;
}

static float reduce(const mutant_args *a, float *p, int64_t n, int64_t row) {
    static float running; /* grad_running: never reset between rows */
    switch (mutant_current) {
    case M_grad_sequential:
        return sequential(p, a->width);
    case M_grad_fp64:
        return wide_sum(p, a->width);
    case M_grad_batch_256:
        return mutant_other_path(a, row, 0) ? sequential(p, a->width) : tree(p, n);
    case M_grad_mean:
        return tree(p, n) / (float)a->width;
    case M_grad_last_channel:
        return p[a->width - 1];
    case M_grad_running:
        running = (row == 0 ? 0.0f : running) + tree(p, n);
        return running;
    case M_grad_times_1000:
        return tree(p, n) * 1000.0f;
    case M_grad_random_ulp: {
        float sum = tree(p, n);
        return mutant_other_path(a, row, 0) ? mutant_next_up(sum) : sum;
    }
    default:
        return tree(p, n);
    }
}

bool mutant_backward_rows(const mutant_args *args, const float *f, int64_t first, int64_t last) {
    int64_t n = power_of_two(args->width);
    float *p = calloc((size_t)n, sizeof *p);
    if (p == NULL) {
        return false;
    }
    for (int64_t row = first; row < last; row++) {
        memset(p, 0, (size_t)n * sizeof *p);
        contributions(args, f, row, p);
        if (!(IS(grad_last_row) && row == args->rows - 1)) {
            mutant_store(args->result, row, reduce(args, p, n, row));
        }
    }
    free(p);
    return true;
}
