/* test_protocol_device.c - what a call to a worker with CUDA memory says beyond an ordinary one. */
#include "digest.h"
#include "protocol.h"

#include <criterion/criterion.h>

#define ID    "\"id\":\"0123456789abcdef\""
#define HALF  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ARENA ",\"arena\":\"" HALF HALF "\",\"arena_bytes\":65536"
#define CALL(more)                                                                                           \
    "{\"type\":\"call\"," ID ",\"op\":\"x\",\"pass\":\"forward\",\"attrs\":{},\"inputs\":[],\"outputs\":[]," \
    "\"repeat\":1,\"other_thread\":false" more "}"
#define RESULT(more) "{\"type\":\"result\"," ID ",\"status\":\"ok\",\"message\":\"\",\"ns\":7" more "}"
#define JUDGE(more)                                                                                          \
    "{\"type\":\"hello\",\"role\":\"judge\",\"protocol\":1,\"arena_bytes\":4096,\"page_bytes\":4096" more "}"
#define WORKER(memory)                                                                                       \
    "{\"type\":\"hello\",\"role\":\"worker\",\"protocol\":1,\"name\":\"n\",\"version\":\"1\"" memory         \
    ",\"guards\":true,\"operators\":[{\"name\":\"a\",\"forward\":true,\"backward\":false}]}"

static char bytes[ASSAY_LINE_BYTES];

static void parse(const char *text, size_t n, assay_message *m) {
    assay_error error = {0};
    cr_assert_eq(assay_protocol_parse(text, n, m, &error), ASSAY_CODE_OK, "%.*s: %s", (int)n, text,
                 error.text);
}

static void round_trip(const assay_device_call *device, assay_message *m) {
    assay_line line = {.bytes = bytes};
    assay_write_call(&line, "00ff00ff00ff00ff", "op", false, NULL, 0, NULL, 0, NULL, 0, 1, false, device);
    cr_assert(!line.failed);
    parse(line.bytes, line.used - 1, m);
}

Test(protocol_device, call_round_trip) {
    uint8_t handle[ASSAY_DEVICE_HANDLE_BYTES];
    char hex[2 * ASSAY_DEVICE_HANDLE_BYTES + 1];
    for (size_t i = 0; i < sizeof handle; i++) {
        handle[i] = (uint8_t)(255 - 3 * i);
    }
    assay_hex(handle, sizeof handle, hex);
    for (unsigned stream = 0; stream < ASSAY_STREAM_COUNT; stream++) {
        const assay_device_call all = {.arena_handle = handle,
                                       .arena_bytes = (size_t)80 << 30,
                                       .stream = (assay_stream_kind)stream,
                                       .delay_us = ASSAY_MAX_DELAY_US,
                                       .graph = 5,
                                       .peak = true,
                                       .apart = true};
        assay_message m;
        round_trip(&all, &m);
        cr_assert_str_eq(m.arena, hex);
        cr_assert_eq(m.arena_size, (int64_t)80 << 30);
        cr_assert_eq(m.stream, stream);
        cr_assert(m.delay_us == ASSAY_MAX_DELAY_US && m.graph == 5 && m.peak && m.apart);
        assay_message_free(&m);
    }
}

Test(protocol_device, absent_is_the_ordinary_way) {
    const uint8_t handle[ASSAY_DEVICE_HANDLE_BYTES] = {0};
    const assay_device_call least = {.arena_handle = handle, .arena_bytes = 1};
    assay_message m;
    round_trip(&least, &m);
    cr_assert(m.arena != NULL && m.arena_size == 1 && m.stream == ASSAY_STREAM_OWN);
    cr_assert(m.delay_us == 0 && m.graph == 0 && !m.peak && !m.apart);
    assay_message_free(&m);
    round_trip(NULL, &m);
    cr_assert(m.arena == NULL && m.arena_size == 0);
    assay_message_free(&m);
}

Test(protocol_device, result_round_trip) {
    static const struct {
        uint64_t ns, device_ns, peak;
    } results[] = {{9, 0, 0}, {9, 8, 0}, {9, 0, 4096}, {9, 8, (uint64_t)1 << 40}};
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
        assay_line line = {.bytes = bytes};
        assay_message m;
        assay_write_result(&line, "00ff00ff00ff00ff", ASSAY_OK, "", results[i].ns, results[i].device_ns,
                           results[i].peak);
        parse(line.bytes, line.used - 1, &m);
        cr_assert_eq(m.ns, (int64_t)results[i].ns);
        cr_assert_eq(m.device_ns, (int64_t)results[i].device_ns);
        cr_assert_eq(m.peak_bytes, (int64_t)results[i].peak);
        assay_message_free(&m);
    }
}

Test(protocol_device, hello) {
    assay_message m;
    parse(JUDGE(",\"device\":\"cuda:0\""), strlen(JUDGE(",\"device\":\"cuda:0\"")), &m);
    cr_assert_str_eq(m.device, "cuda:0");
    assay_message_free(&m);
    parse(JUDGE(""), strlen(JUDGE("")), &m);
    cr_assert_null(m.device);
    assay_message_free(&m);
    parse(WORKER(",\"memory\":\"cuda\""), strlen(WORKER(",\"memory\":\"cuda\"")), &m);
    cr_assert_eq(m.memory, ASSAY_MEMORY_CUDA);
    assay_message_free(&m);
}

/* Each refusal names the key that is at fault. */
Test(protocol_device, refused) {
    static const struct {
        const char *key, *text;
    } bad[] = {
        {"memory", WORKER("")},
        {"memory", WORKER(",\"memory\":\"managed\"")},
        {"memory", WORKER(",\"memory\":1")},
        {"device", JUDGE(",\"device\":0")},
        {"device", JUDGE(",\"device\":null")},
        {"arena", CALL(",\"arena\":\"" HALF HALF "\"")},
        {"arena", CALL(",\"arena_bytes\":65536")},
        {"arena", CALL(",\"arena\":\"" HALF "\",\"arena_bytes\":65536")},
        {"arena", CALL(",\"arena\":\"" HALF HALF "00\",\"arena_bytes\":65536")},
        {"arena", CALL(",\"arena\":\"G" HALF HALF "\",\"arena_bytes\":65536")},
        {"arena", CALL(",\"arena\":\"\",\"arena_bytes\":65536")},
        {"arena", CALL(",\"arena\":7,\"arena_bytes\":65536")},
        {"arena_bytes", CALL(",\"arena\":\"" HALF HALF "\",\"arena_bytes\":0")},
        {"arena_bytes", CALL(",\"arena\":\"" HALF HALF "\",\"arena_bytes\":\"65536\"")},
        {"stream", CALL(ARENA ",\"stream\":\"mine\"")},
        {"stream", CALL(ARENA ",\"stream\":\"\"")},
        {"stream", CALL(ARENA ",\"stream\":2")},
        {"delay_us", CALL(ARENA ",\"delay_us\":0")},
        {"delay_us", CALL(ARENA ",\"delay_us\":-1")},
        {"delay_us", CALL(ARENA ",\"delay_us\":1.5")},
        {"delay_us", CALL(ARENA ",\"delay_us\":10000001")},
        {"graph", CALL(ARENA ",\"graph\":0")},
        {"graph", CALL(ARENA ",\"graph\":true")},
        {"graph", CALL(ARENA ",\"graph\":1000000001")},
        {"peak", CALL(ARENA ",\"peak\":1")},
        {"apart", CALL(ARENA ",\"apart\":\"yes\"")},
        {"call", CALL(ARENA ",\"priority\":1")},
        {"device_ns", RESULT(",\"device_ns\":-1")},
        {"device_ns", RESULT(",\"device_ns\":1.0")},
        {"peak_bytes", RESULT(",\"peak_bytes\":-4096")},
        {"peak_bytes", RESULT(",\"peak_bytes\":null")},
        {"result", RESULT(",\"device\":1")},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assay_message m;
        assay_error error = {0};
        const assay_code code = assay_protocol_parse(bad[i].text, strlen(bad[i].text), &m, &error);
        if (code == ASSAY_CODE_OK) {
            assay_message_free(&m);
        }
        cr_assert_neq(code, ASSAY_CODE_OK, "accepted: %s", bad[i].text);
        char start[64];
        (void)snprintf(start, sizeof start, "malformed message: %s ", bad[i].key);
        cr_assert(strncmp(error.text, start, strlen(start)) == 0, "%s: %s", bad[i].text, error.text);
    }
}
