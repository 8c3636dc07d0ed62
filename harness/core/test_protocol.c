/* test_protocol.c - the parser: every message round trips, everything else is refused. */
#include "protocol.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sys/socket.h>
#include <unistd.h>

#define ID     "\"id\":\"0123456789abcdef\""
#define TENSOR "{\"dtype\":\"f32\",\"shape\":[3],\"strides\":[1],\"offset\":4352,\"segment\":[4096,4096]}"
#define CALL(attrs, inputs)                                                                                  \
    "{\"type\":\"call\"," ID ",\"op\":\"x\",\"pass\":\"forward\",\"attrs\":" attrs ",\"inputs\":" inputs     \
    ",\"outputs\":[],\"repeat\":1,\"other_thread\":false}"
#define HELLO(operators)                                                                                     \
    "{\"type\":\"hello\",\"role\":\"worker\",\"protocol\":1,\"name\":\"n\",\"version\":\"1\",\"memory\":"    \
    "\"host\",\"guards\":true,"                                                                              \
    "\"operators\":" operators "}"

/* A worker's hello of which the texts are chosen. */
#define SAYS(name, lineage, knobs)                                                                           \
    "{\"type\":\"hello\",\"role\":\"worker\",\"protocol\":1,\"name\":\"" name                                \
    "\",\"version\":\"1\",\"memory\":\"host\",\"guards\":true,\"lineage\":\"" lineage                        \
    "\",\"operators\":[{\"name\":\"a\",\"forward\":true,\"backward\":false}],\"knobs\":" knobs "}"
#define KNOB      "{\"name\":\"a\",\"requested\":\"x\",\"effective\":\"y\"}"
#define TEN       "0123456789"
#define LONG_TEXT TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN "12345678" /* one byte too long */

static char bytes[ASSAY_LINE_BYTES];

static assay_line empty_line(void) {
    return (assay_line){.bytes = bytes};
}

static void parse(const char *text, size_t n, assay_message *m) {
    assay_error error = {0};
    cr_assert_eq(assay_protocol_parse(text, n, m, &error), ASSAY_CODE_OK, "%.*s: %s", (int)n, text,
                 error.text);
}

Test(protocol, call_round_trip) {
    const assay_attr attrs[] = {{.name = "width", .type = ASSAY_ATTR_INT, .i = INT64_MIN},
                                {.name = "check", .type = ASSAY_ATTR_BOOL, .i = 1},
                                {.name = "max\"p\\\n", .type = ASSAY_ATTR_FLOAT, .f = 0.1},
                                {.name = "whole", .type = ASSAY_ATTR_FLOAT, .f = 10000.0},
                                {.name = "zero", .type = ASSAY_ATTR_FLOAT, .f = -0.0},
                                {.name = "nan", .type = ASSAY_ATTR_FLOAT, .f = (double)NAN},
                                {.name = "inf", .type = ASSAY_ATTR_FLOAT, .f = (double)INFINITY},
                                {.name = "minf", .type = ASSAY_ATTR_FLOAT, .f = -(double)INFINITY},
                                {.name = "text", .type = ASSAY_ATTR_STRING, .s = "a\tb\xc3\xa9"}};
    const assay_tensor t = {.dtype = ASSAY_DTYPE_BF16,
                            .ndim = 2,
                            .shape = {3, 5},
                            .strides = {0, 7},
                            .data_offset = 9000,
                            .segment_offset = 8192,
                            .segment_bytes = 4096};
    const assay_tensor *inputs[] = {&t, NULL}, *outputs[] = {NULL, &t};
    assay_line line = empty_line();
    assay_message m;
    assay_write_call(&line, "00ff00ff00ff00ff", "op", true, attrs, 9, inputs, 2, outputs, 2, 7, true, NULL);
    cr_assert(!line.failed);
    cr_assert_eq(line.bytes[line.used - 1], '\n');
    parse(line.bytes, line.used - 1, &m);
    cr_assert_eq(m.type, ASSAY_MESSAGE_CALL);
    cr_assert_str_eq(m.id, "00ff00ff00ff00ff");
    cr_assert(m.backward && m.other_thread && m.repeat == 7);
    cr_assert_eq(m.attr_count, 9);
    for (size_t i = 0; i < 9; i++) {
        cr_assert_str_eq(m.attrs[i].name, attrs[i].name);
        cr_assert_eq(m.attrs[i].type, attrs[i].type);
        cr_assert(attrs[i].type == ASSAY_ATTR_STRING || attrs[i].type == ASSAY_ATTR_FLOAT ||
                  m.attrs[i].i == attrs[i].i);
        cr_assert(attrs[i].type != ASSAY_ATTR_FLOAT || isnan(attrs[i].f) ||
                      assay_f64_bits(m.attrs[i].f) == assay_f64_bits(attrs[i].f),
                  "%s", attrs[i].name);
    }
    cr_assert(isnan(m.attrs[5].f));
    cr_assert_str_eq(m.attrs[8].s, attrs[8].s);
    cr_assert(m.inputs[1].null && m.outputs[0].null && !m.inputs[0].null);
    cr_assert_eq(m.outputs[1].dtype, ASSAY_DTYPE_BF16);
    cr_assert(m.outputs[1].ndim == 2 && m.outputs[1].shape[1] == 5 && m.outputs[1].strides[1] == 7);
    cr_assert(m.outputs[1].offset == 9000 && m.outputs[1].segment_offset == 8192 &&
              m.outputs[1].segment_bytes == 4096);
    assay_message_free(&m);
}

Test(protocol, result_repairs_text) {
    assay_line line = empty_line();
    assay_message m;
    assay_write_result(&line, "00ff00ff00ff00ff", ASSAY_DEVICE_ERROR, "\xff\"\\\x01 ok", 123, 0, 0);
    parse(line.bytes, line.used - 1, &m);
    cr_assert_str_eq(m.text, "?\"\\\x01 ok");
    cr_assert(m.status == ASSAY_DEVICE_ERROR && m.ns == 123);
    assay_message_free(&m);
}

Test(protocol, accepted) {
    static const char *const good[] = {
        "{\"type\":\"exit\"}",
        "{\"type\":\"ping\"," ID "}",
        " {\"type\" : \"pong\", " ID " } ",
        CALL("{}", "[]"),
        CALL("{\"a\":{\"float\":\"nan\"}}", "[null," TENSOR "]"),
        HELLO("[{\"name\":\"a\",\"forward\":true,\"backward\":false}]"),
        SAYS("caf\xc3\xa9", "1234567" TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN, "[" KNOB "]"),
        "{\"type\":\"hello\",\"role\":\"worker\",\"protocol\":9,\"error\":\"no\"}",
        "{\"type\":\"hello\",\"role\":\"judge\",\"protocol\":1,\"arena_bytes\":4096,\"page_bytes\":4096}",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assay_message m;
        parse(good[i], strlen(good[i]), &m);
        assay_message_free(&m);
    }
}

Test(protocol, refused) {
    static const char *const bad[] = {
        "",
        "x",
        "[]",
        "7",
        "null",
        "{}",
        "{\"type\":\"exit\"",
        "{\"type\":\"exit\"}{}",
        "{\"type\":\"exit\",\"type\":\"exit\"}",
        "{\"type\":\"exit\",\"x\":1}",
        "{\"type\":\"exit\",\"role\":\"judge\"}",
        "{\"type\":\"leave\"}",
        "{\"type\":7}",
        "{\"type\":\"hello\"}",
        "{\"type\":\"hello\",\"role\":\"x\"}",
        "{\"type\":\"hello\",\"role\":3}",
        "{\"type\":\"ping\"}",
        "{\"type\":\"ping\",\"id\":\"0123456789abcde\"}",
        "{\"type\":\"ping\",\"id\":\"0123456789ABCDEF\"}",
        "{\"type\":\"ping\",\"id\":12}",
        "{\"type\":\"ping\",\"id\":\"0123456789abcd\\u0000\"}",
        CALL("[]", "[]"),
        CALL("{\"a\":null}", "[]"),
        CALL("{\"a\":[]}", "[]"),
        CALL("{\"a\":1,\"a\":2}", "[]"),
        CALL("{\"a\":{\"float\":\"NaN\"}}", "[]"),
        CALL("{\"a\":{\"float\":\"nan\",\"b\":1}}", "[]"),
        CALL("{}", "{}"),
        CALL("{}", "[7]"),
        CALL("{}", "[{}]"),
        CALL("{}",
             "[{\"dtype\":\"f33\",\"shape\":[3],\"strides\":[1],\"offset\":4352,\"segment\":[4096,4096]}]"),
        CALL("{}",
             "[{\"dtype\":\"f32\",\"shape\":[3,1],\"strides\":[1],\"offset\":4352,\"segment\":[4096,4096]}]"),
        CALL("{}",
             "[{\"dtype\":\"f32\",\"shape\":[-3],\"strides\":[1],\"offset\":4352,\"segment\":[4096,4096]}]"),
        CALL("{}",
             "[{\"dtype\":\"f32\",\"shape\":[3.0],\"strides\":[1],\"offset\":4352,\"segment\":[4096,4096]}]"),
        CALL("{}", "[{\"dtype\":\"f32\",\"shape\":[1,1,1,1,1],\"strides\":[1,1,1,1,1],\"offset\":4352,"
                   "\"segment\":[4096,4096]}]"),
        CALL("{}",
             "[{\"dtype\":\"f32\",\"shape\":[3],\"strides\":[1],\"offset\":4000,\"segment\":[4096,4096]}]"),
        CALL("{}",
             "[{\"dtype\":\"f32\",\"shape\":[3],\"strides\":[1],\"offset\":9000,\"segment\":[4096,4096]}]"),
        CALL("{}", "[{\"dtype\":\"f32\",\"shape\":[3],\"strides\":[1],\"offset\":4352,\"segment\":[4096,"
                   "9223372036854775807]}]"),
        CALL("{}", "[{\"dtype\":\"f32\",\"shape\":[3],\"strides\":[1],\"offset\":4352,\"segment\":[4096]}]"),
        CALL("{}", "[{\"dtype\":\"f32\",\"shape\":[3],\"strides\":[1],\"offset\":4352,\"segment\":[4096,4096]"
                   ",\"x\":1}]"),
        CALL("{}", "[null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null]"),
        "{\"type\":\"call\"," ID ",\"op\":\"x\",\"pass\":\"sideways\",\"attrs\":{},\"inputs\":[],\"outputs\":"
        "[],\"repeat\":1,\"other_thread\":false}",
        "{\"type\":\"call\"," ID ",\"op\":\"x\",\"pass\":\"forward\",\"attrs\":{},\"inputs\":[],\"outputs\":["
        "],\"repeat\":0,\"other_thread\":false}",
        "{\"type\":\"call\"," ID ",\"op\":\"x\",\"pass\":\"forward\",\"attrs\":{},\"inputs\":[],\"outputs\":["
        "],\"repeat\":1,\"other_thread\":0}",
        "{\"type\":\"call\"," ID
        ",\"op\":\"x\",\"pass\":\"forward\",\"attrs\":{},\"inputs\":[],\"repeat\":1,\"other_thread\":false}",
        "{\"type\":\"result\"," ID ",\"status\":\"fine\",\"message\":\"\",\"ns\":1}",
        "{\"type\":\"result\"," ID ",\"status\":\"ok\",\"message\":\"\",\"ns\":-1}",
        "{\"type\":\"result\"," ID ",\"status\":\"ok\",\"message\":\"\",\"ns\":1.0}",
        "{\"type\":\"result\"," ID ",\"status\":\"ok\",\"message\":\"\",\"ns\":99999999999999999999}",
        "{\"type\":\"result\"," ID ",\"status\":\"ok\",\"ns\":1}",
        "{\"type\":\"result\"," ID ",\"status\":\"ok\",\"message\":\"\xff\",\"ns\":1}",
        HELLO("[]"),
        HELLO("{}"),
        HELLO("[{\"name\":\"a\",\"forward\":true}]"),
        HELLO("[{\"name\":\"\",\"forward\":true,\"backward\":false}]"),
        HELLO("[{\"name\":\"a\",\"forward\":1,\"backward\":false}]"),
        HELLO("[{\"name\":\"a\",\"forward\":true,\"backward\":false},{\"name\":\"a\",\"forward\":true,"
              "\"backward\":false}]"),
        HELLO("[{\"name\":\"a\\nb\",\"forward\":true,\"backward\":false}]"),
        SAYS("x\\nVERDICT certified", "", "[]"),
        SAYS("x\\u001b[2J", "", "[]"),
        SAYS("n", "h3\\u202eadub", "[]"),
        SAYS("n", LONG_TEXT, "[]"),
        SAYS("n", "", "[{\"name\":\"a\",\"requested\":\"x\",\"effective\":\"y\\n\"}]"),
        SAYS("n", "", "[" KNOB "," KNOB "]"),
        "{\"type\":\"hello\",\"role\":\"judge\",\"protocol\":1,\"arena_bytes\":0,\"page_bytes\":4096}",
        "{\"type\":\"hello\",\"role\":\"worker\",\"protocol\":1,\"error\":\"no\",\"name\":\"x\"}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assay_message m;
        assay_error error = {0};
        cr_assert_eq(assay_protocol_parse(bad[i], strlen(bad[i]), &m, &error), ASSAY_CODE_USAGE,
                     "accepted: %s", bad[i]);
        cr_assert(strlen(error.text) > 0);
        cr_assert_null(m.root);
    }
}

/* Every byte of a valid call changed to a few values: never a crash, and the message stays consistent when
 * accepted. */
Test(protocol, mutations) {
    static const char call[] = CALL("{\"w\":256,\"p\":1.5}", "[" TENSOR ",null]");
    static const char values[] = {'\0', '"', '{', '}', '[', ']', ',', '0', '-', '\\', '\x80', 'e'};
    char copy[sizeof call];
    size_t accepted = 0;
    for (size_t i = 0; i + 1 < sizeof call; i++) {
        for (size_t v = 0; v < sizeof values; v++) {
            assay_message m;
            memcpy(copy, call, sizeof call);
            copy[i] = values[v];
            if (assay_protocol_parse(copy, sizeof call - 1, &m, NULL) == ASSAY_CODE_OK) {
                accepted++;
                cr_assert(m.type == ASSAY_MESSAGE_CALL && m.attr_count <= ASSAY_MAX_ATTRS && m.op != NULL &&
                          strlen(m.id) == 16);
                assay_message_free(&m);
            }
            cr_assert_eq(assay_protocol_parse(call, i, &m, NULL), ASSAY_CODE_USAGE,
                         "a cut message is refused");
        }
    }
    cr_assert_gt(accepted, 0);
}

Test(protocol, too_long) {
    assay_message m;
    assay_error error;
    memset(bytes, ' ', sizeof bytes);
    cr_assert_eq(assay_protocol_parse(bytes, sizeof bytes, &m, &error), ASSAY_CODE_USAGE);
    assay_line line = empty_line();
    static char text[ASSAY_LINE_BYTES];
    memset(text, 'a', sizeof text - 1);
    const assay_attr attr = {.name = "s", .type = ASSAY_ATTR_STRING, .s = text};
    assay_write_call(&line, "00ff00ff00ff00ff", "op", false, &attr, 1, NULL, 0, NULL, 0, 1, false, NULL);
    cr_assert(line.failed);
}

Test(protocol, reader_splits_lines) {
    int s[2];
    assay_reader reader;
    size_t n = 0;
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, s), 0);
    cr_assert(assay_reader_init(&reader));
    cr_assert_eq(write(s[1], "one\ntwo\nthr", 11), 11);
    cr_assert_eq(assay_reader_fill(&reader, s[0], 0), 11);
    cr_assert(memcmp(assay_reader_line(&reader, &n), "one", 3) == 0 && n == 3);
    cr_assert(memcmp(assay_reader_line(&reader, &n), "two", 3) == 0 && n == 3);
    cr_assert_null(assay_reader_line(&reader, &n));
    cr_assert_eq(assay_reader_spin(&reader, s[0]), -1);
    cr_assert_eq(write(s[1], "ee\n", 3), 3);
    cr_assert_eq(assay_reader_spin(&reader, s[0]), 3);
    cr_assert(memcmp(assay_reader_line(&reader, &n), "three", 5) == 0 && n == 5);
    memset(bytes, 'x', sizeof bytes);
    long got = 0;
    for (int i = 0; i < 3 && got != -2; i++) {
        cr_assert_eq(write(s[1], bytes, 40000), 40000);
        got = assay_reader_fill(&reader, s[0], 0);
    }
    cr_assert_eq(got, -2, "a line that does not end");
    (void)close(s[1]);
    assay_reader_free(&reader);
    (void)close(s[0]);
}
