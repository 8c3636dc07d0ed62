/* test_nvml.c - readings through a fake management library: the right GPU, absent values, reasons, failures.
 */
#include "nvml.h"

#include "digest.h"
#include "fake_nvml/fake_nvml.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char path[512];
static fake_nvml *fake;
static char why[200];

static void open_fake(void) {
    const char *build = getenv("ASSAY_BUILD");
    (void)snprintf(path, sizeof path, "%s/hostile/fake_nvml.so", build != NULL ? build : ".");
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL); /* stays open, so that its state does */
    cr_assert_not_null(library, "%s", path);
    fake = dlsym(library, FAKE_NVML_STATE);
    cr_assert_not_null(fake);
    *fake = (fake_nvml){.count = 3,
                        .uuid = {"GPU-00000000-0000-0000-0000-000000000001",
                                 "GPU-0A1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9", "MIG-not-a-gpu"},
                        .sm_clock = {1000, 1980, 1500},
                        .memory_clock = 3201,
                        .temperature = 41,
                        .power = 123456};
}

TestSuite(nvml, .init = open_fake);

/* SHA-256 of the second GPU's 16 bytes. */
static const char *second(void) {
    static const uint8_t uuid[] = {0x0a, 0x1b, 0x2c, 0x3d, 0x4e, 0x5f, 0x60, 0x71,
                                   0x82, 0x93, 0xa4, 0xb5, 0xc6, 0xd7, 0xe8, 0xf9};
    static char hex[2 * ASSAY_HASH_BYTES + 1];
    uint8_t hash[ASSAY_HASH_BYTES];
    assay_sha256(uuid, sizeof uuid, hash);
    assay_hex(hash, sizeof hash, hex);
    return hex;
}

Test(nvml, finds_the_gpu_by_its_uuid_whatever_the_number) {
    assay_nvml_reading r;
    assay_nvml *n = assay_nvml_open(path, second(), 0, why, sizeof why);
    cr_assert_not_null(n, "%s", why);
    cr_assert(assay_nvml_by_uuid(n));
    assay_nvml_read(n, &r);
    cr_assert(r.has_sm_clock && r.has_memory_clock && r.has_temperature && r.has_power && r.has_reasons);
    cr_assert_eq(r.sm_clock_mhz, 1980);
    cr_assert_eq(r.memory_clock_mhz, 3201);
    cr_assert_eq(r.temperature_c, 41);
    cr_assert_eq(r.power_mw, 123456);
    assay_nvml_close(n);
    cr_assert_eq(fake->started, 0, "what was started is shut down");
}

Test(nvml, an_unknown_uuid_leaves_the_number) {
    assay_nvml_reading r;
    char other[65];
    memset(other, 'a', 64);
    other[64] = '\0';
    const char *const unknown[] = {other, "", NULL};
    for (size_t i = 0; i < 3; i++) {
        assay_nvml *n = assay_nvml_open(path, unknown[i], 2, why, sizeof why);
        cr_assert_not_null(n, "%s", why);
        cr_assert_not(assay_nvml_by_uuid(n));
        assay_nvml_read(n, &r);
        cr_assert_eq(r.sm_clock_mhz, 1500);
        assay_nvml_close(n);
    }
}

Test(nvml, what_cannot_be_read_is_absent_and_zero) {
    assay_nvml_reading r;
    fake->query_status = 3; /* not supported */
    fake->reasons = ASSAY_NVML_REASON_HW_SLOWDOWN;
    assay_nvml *n = assay_nvml_open(path, NULL, 0, why, sizeof why);
    cr_assert_not_null(n, "%s", why);
    assay_nvml_read(n, &r);
    cr_assert_not(r.has_sm_clock || r.has_memory_clock || r.has_temperature || r.has_power || r.has_reasons);
    cr_assert_eq(r.sm_clock_mhz + r.memory_clock_mhz + r.temperature_c + r.power_mw, 0);
    cr_assert_not(assay_nvml_throttled(&r));
    assay_nvml_close(n);
}

Test(nvml, idle_and_set_clocks_are_harmless_everything_else_throttles) {
    assay_nvml_reading r;
    assay_nvml *n = assay_nvml_open(path, NULL, 0, why, sizeof why);
    cr_assert_not_null(n, "%s", why);
    for (unsigned bit = 0; bit < 16; bit++) {
        fake->reasons = 1ULL << bit | ASSAY_NVML_REASON_IDLE;
        assay_nvml_read(n, &r);
        cr_assert_eq(assay_nvml_throttled(&r), bit >= 2, "bit %u", bit);
    }
    assay_nvml_close(n);
}

Test(nvml, failures_are_one_line_and_nothing_stays_open) {
    cr_assert_null(assay_nvml_open("/nonexistent/libnvidia-ml.so.1", NULL, 0, why, sizeof why));
    cr_assert_str_eq(why, "NVML: /nonexistent/libnvidia-ml.so.1 cannot be opened");
    cr_assert_null(assay_nvml_open("libm.so.6", NULL, 0, why, sizeof why));
    cr_assert_str_eq(why, "NVML: libm.so.6 has no function nvmlInit_v2");
    cr_assert_null(assay_nvml_open(path, NULL, 3, why, sizeof why));
    cr_assert_str_eq(why, "NVML: it knows no GPU 3 (it has 3)");
    cr_assert_null(assay_nvml_open(path, NULL, -1, why, sizeof why));
    fake->count_status = 1;
    cr_assert_null(assay_nvml_open(path, NULL, 0, why, sizeof why));
    cr_assert_eq(fake->started, 0);
    fake->init_status = 9;
    cr_assert_null(assay_nvml_open(path, NULL, 0, why, sizeof why));
    cr_assert_str_eq(why, "NVML: it does not start (error 9)");
    cr_assert_eq(fake->started, 0);
    assay_nvml_close(NULL);
}

Test(nvml, reasons_in_words) {
    char text[100];
    assay_nvml_reasons_text(0, text, sizeof text);
    cr_assert_str_eq(text, "none");
    assay_nvml_reasons_text(0x44, text, sizeof text);
    cr_assert_str_eq(text, "software power cap, hardware thermal slowdown");
    assay_nvml_reasons_text(0x1001, text, sizeof text);
    cr_assert_str_eq(text, "idle, 0x1000");
    char small[8];
    assay_nvml_reasons_text(0x1ff, small, sizeof small);
    cr_assert_eq(strlen(small), 7, "cut, never beyond the end");
}
