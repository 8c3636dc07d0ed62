/* invariance_plan.c - which rows are run together: windows that cover every row, the dense sweep, shuffles.
 * Pure. */
#include "invariance_batch.h"

uint64_t assay_windows_count(uint64_t rows, uint64_t size) {
    return size == 0 || size > rows ? 0 : (rows + size - 1) / size;
}

uint64_t assay_windows_start(uint64_t rows, uint64_t size, uint64_t index) {
    uint64_t start = index * size;
    return start + size > rows ? rows - size : start;
}

size_t assay_sweep_sizes(uint64_t n, uint64_t sizes[ASSAY_SWEEP_SIZES]) {
    size_t count = 0;
    for (uint64_t m = 1; m <= 9 && m <= n; m++) {
        sizes[count++] = m;
    }
    for (uint64_t power = 16; power - 1 <= n && count + 4 < ASSAY_SWEEP_SIZES; power *= 2) {
        for (uint64_t m = power - 1; m <= power + 1 && m <= n; m++) {
            sizes[count++] = m;
        }
    }
    if (count > 0 && sizes[count - 1] != n) {
        sizes[count++] = n;
    }
    return count;
}

size_t assay_sweep_positions(uint64_t size, uint64_t positions[3]) {
    const uint64_t all[3] = {0, (size - 1) / 2, size - 1};
    size_t count = 0;
    for (size_t i = 0; i < 3; i++) {
        if (count == 0 || all[i] != positions[count - 1]) {
            positions[count++] = all[i];
        }
    }
    return count;
}

void assay_shuffle(assay_philox_key key, uint64_t n, uint32_t *order) {
    for (uint64_t i = 0; i < n; i++) {
        order[i] = (uint32_t)i;
    }
    for (uint64_t i = n; i > 1; i--) {
        uint32_t word;
        assay_philox_words(key, n - i, 1, &word);
        uint64_t pick = ((uint64_t)word * i) >> 32;
        uint32_t swap = order[i - 1];
        order[i - 1] = order[pick];
        order[pick] = swap;
    }
}

void assay_sweep_batch(assay_philox_key key, uint64_t n, uint64_t probe, uint64_t size, uint64_t position,
                       uint32_t *rows) {
    /* The shuffle needs room for all n rows; the batch is its first `size` entries that are not the probe. */
    assay_shuffle(key, n, rows);
    uint64_t kept = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (rows[i] != probe) {
            rows[kept++] = rows[i];
        }
    }
    for (uint64_t i = size - 1; i > position; i--) {
        rows[i] = rows[i - 1];
    }
    rows[position] = (uint32_t)probe;
}
