/* Tests of invariance_plan.c: which rows the invariance suite runs together. */
#include "invariance_batch.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void every_row_is_covered(uint64_t rows, uint64_t size) {
    char *seen = calloc(rows, 1);
    for (uint64_t i = 0; i < assay_windows_count(rows, size); i++) {
        uint64_t start = assay_windows_start(rows, size, i);
        cr_assert_leq(start + size, rows, "window %llu of size %llu leaves %llu rows", (unsigned long long)i,
                      (unsigned long long)size, (unsigned long long)rows);
        memset(seen + start, 1, size);
    }
    cr_assert_null(memchr(seen, 0, rows), "rows %llu size %llu: a row is in no window",
                   (unsigned long long)rows, (unsigned long long)size);
    free(seen);
}

Test(windows, cover_every_row_at_every_published_size) {
    const uint64_t rows[] = {64, 256, 257, 2048, 8192, 65537};
    const uint64_t sizes[] = {1, 7, 64, 2048, 4096, 4097, 65536};
    for (size_t r = 0; r < 6; r++) {
        for (size_t s = 0; s < 7; s++) {
            if (sizes[s] <= rows[r]) {
                cr_assert_geq(assay_windows_count(rows[r], sizes[s]), 1);
                every_row_is_covered(rows[r], sizes[s]);
            }
        }
    }
    cr_assert_eq(assay_windows_count(8192, 1), 8192);
    cr_assert_eq(assay_windows_count(8192, 7), 1171);
    cr_assert_eq(assay_windows_count(8192, 2048), 4);
    cr_assert_eq(assay_windows_count(8192, 4097), 2);
}

Test(windows, a_size_that_does_not_fit_has_none) {
    cr_assert_eq(assay_windows_count(64, 65), 0);
    cr_assert_eq(assay_windows_count(64, 0), 0);
}

Test(sweep, has_32_sizes_up_to_2048_and_752_comparisons) {
    uint64_t sizes[ASSAY_SWEEP_SIZES];
    uint64_t positions[3];
    size_t count = assay_sweep_sizes(2048, sizes);
    size_t comparisons = 0;
    cr_assert_eq(count, 32);
    for (size_t i = 0; i < count; i++) {
        cr_assert(i == 0 || sizes[i] > sizes[i - 1]);
        cr_assert_leq(sizes[i], 2048);
        comparisons += 8 * assay_sweep_positions(sizes[i], positions);
    }
    cr_assert_eq(comparisons + 8, 752); /* and the whole batch reversed, once for each probe */
}

Test(sweep, straddles_every_power_of_two) {
    uint64_t sizes[ASSAY_SWEEP_SIZES];
    size_t count = assay_sweep_sizes(300, sizes);
    const uint64_t due[] = {1, 9, 15, 16, 17, 127, 128, 129, 255, 256, 257, 300};
    for (size_t d = 0; d < sizeof due / sizeof due[0]; d++) {
        bool found = false;
        for (size_t i = 0; i < count; i++) {
            found |= sizes[i] == due[d];
        }
        cr_assert(found, "size %llu is missing", (unsigned long long)due[d]);
    }
    for (uint64_t n = 1; n < 70; n++) {
        count = assay_sweep_sizes(n, sizes);
        cr_assert_eq(sizes[count - 1], n);
        cr_assert_eq(sizes[0], 1);
        for (size_t i = 1; i < count; i++) {
            cr_assert_gt(sizes[i], sizes[i - 1], "n %llu", (unsigned long long)n);
        }
    }
}

Test(sweep, positions_are_first_middle_last_without_repeats) {
    uint64_t p[3];
    cr_assert_eq(assay_sweep_positions(1, p), 1);
    cr_assert_eq(assay_sweep_positions(2, p), 2);
    cr_assert(p[0] == 0 && p[1] == 1);
    cr_assert_eq(assay_sweep_positions(9, p), 3);
    cr_assert(p[0] == 0 && p[1] == 4 && p[2] == 8);
}

static void is_permutation(const uint32_t *order, uint64_t n) {
    char *seen = calloc(n, 1);
    for (uint64_t i = 0; i < n; i++) {
        cr_assert_lt(order[i], n);
        cr_assert_eq(seen[order[i]]++, 0);
    }
    free(seen);
}

Test(shuffle, is_a_permutation_that_depends_on_the_key_only) {
    uint32_t a[500];
    uint32_t b[500];
    assay_philox_key key = {{1, 2}};
    assay_philox_key other = {{1, 3}};
    assay_shuffle(key, 500, a);
    is_permutation(a, 500);
    assay_shuffle(key, 500, b);
    cr_assert_eq(memcmp(a, b, sizeof a), 0);
    assay_shuffle(other, 500, b);
    is_permutation(b, 500);
    cr_assert_neq(memcmp(a, b, sizeof a), 0);
    size_t fixed = 0;
    for (size_t i = 0; i < 500; i++) {
        fixed += a[i] == i;
    }
    cr_assert_lt(fixed, 10, "%zu rows stayed where they were", fixed);
}

Test(sweep, batches_hold_the_probe_once_at_its_place_and_no_row_twice) {
    assay_philox_key key = {{5, 6}};
    uint32_t rows[257];
    const uint64_t sizes[] = {1, 2, 3, 9, 128, 256, 257};
    const uint64_t probes[] = {0, 100, 256};
    for (size_t s = 0; s < 7; s++) {
        for (size_t p = 0; p < 3; p++) {
            uint64_t positions[3];
            for (size_t k = 0; k < assay_sweep_positions(sizes[s], positions); k++) {
                char seen[257] = {0};
                assay_sweep_batch(key, 257, probes[p], sizes[s], positions[k], rows);
                for (uint64_t i = 0; i < sizes[s]; i++) {
                    cr_assert_lt(rows[i], 257);
                    cr_assert_eq(seen[rows[i]]++, 0, "row twice in a batch of %llu",
                                 (unsigned long long)sizes[s]);
                }
                cr_assert_eq(rows[positions[k]], probes[p]);
            }
        }
    }
}
