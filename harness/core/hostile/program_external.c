/* program_external.c - an external adapter that misbehaves in the protocol itself; ASSAY_ADAPTER_MODE picks
 * how. It parses nothing but the id of a call: everything else it says is fixed text. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char line[65536];

static void say(const char *text) {
    (void)!write(3, text, strlen(text));
}

/* One line from the judge; exits at end of file. */
static void listen(void) {
    size_t n = 0;
    while (n + 1 < sizeof line && (n == 0 || line[n - 1] != '\n')) {
        if (read(3, line + n, 1) != 1) {
            exit(0);
        }
        n++;
    }
    line[n] = '\0';
}

static void reply(const char *id, const char *rest) {
    char text[512];
    (void)snprintf(text, sizeof text, "{\"type\":\"result\",\"id\":\"%.16s\",%s}\n", id, rest);
    say(text);
}

static const struct {
    const char *mode, *hello;
} hellos[] = {
    {"hello_garbage", "hello\n"},
    {"hello_call", "{\"type\":\"exit\"}\n"},
    {"hello_version",
     "{\"type\":\"hello\",\"role\":\"worker\",\"protocol\":2,\"name\":\"e\",\"version\":\"1\",\"memory\":"
     "\"host\","
     "\"guards\":false,\"operators\":[{\"name\":\"do\",\"forward\":true,\"backward\":false}]}\n"},
    {"hello_empty", "{\"type\":\"hello\",\"role\":\"worker\",\"protocol\":1,\"name\":\"e\",\"version\":\"1\","
                    "\"memory\":\"host\","
                    "\"guards\":false,\"operators\":[]}\n"},
    {"hello_refuses", "{\"type\":\"hello\",\"role\":\"worker\",\"protocol\":1,\"error\":\"no licence\"}\n"},
    {"hello_twice", "{\"type\":\"hello\",\"role\":\"worker\",\"protocol\":1,\"error\":\"one\"}\n{}\n"},
};

int main(void) {
    static const char ok[] = "\"status\":\"ok\",\"message\":\"\",\"ns\":5";
    const char *mode = getenv("ASSAY_ADAPTER_MODE");
    mode = mode == NULL ? "" : mode;
    listen();
    for (size_t i = 0; i < sizeof hellos / sizeof *hellos; i++) {
        if (strcmp(mode, hellos[i].mode) == 0) {
            say(hellos[i].hello);
            listen();
        }
    }
    static const char hello[] =
        "{\"type\":\"hello\",\"role\":\"worker\",\"protocol\":1,\"name\":\"external\",\"version\":\"1\","
        "\"memory\":\"host\","
        "\"guards\":false,\"operators\":[{\"name\":\"do\",\"forward\":true,\"backward\":false}]}\n";
    static const char early[] =
        "{\"type\":\"result\",\"id\":\"0123456789abcdef\",\"status\":\"ok\",\"message\":\"\",\"ns\":5}\n";
    char first[1024];
    (void)snprintf(first, sizeof first, "%s%s", hello, strcmp(mode, "early") == 0 ? early : "");
    say(first);
    for (;;) {
        listen();
        const char *found = strstr(line, "\"id\":\"");
        if (found == NULL) {
            return 0; /* exit */
        }
        const char *id = found + 6;
        if (strcmp(mode, "twice") == 0) {
            char both[1024];
            (void)snprintf(
                both, sizeof both,
                "{\"type\":\"result\",\"id\":\"%.16s\",%s}\n{\"type\":\"result\",\"id\":\"%.16s\",%s}\n", id,
                ok, id, ok);
            say(both);
        } else if (strcmp(mode, "bad_status") == 0) {
            reply(id, "\"status\":\"fine\",\"message\":\"\",\"ns\":5");
        } else if (strcmp(mode, "extra_key") == 0) {
            reply(id, "\"status\":\"ok\",\"message\":\"\",\"ns\":5,\"score\":1");
        } else if (strcmp(mode, "negative_ns") == 0) {
            reply(id, "\"status\":\"ok\",\"message\":\"\",\"ns\":-5");
        } else if (strcmp(mode, "pong") == 0) {
            char text[64];
            (void)snprintf(text, sizeof text, "{\"type\":\"pong\",\"id\":\"%.16s\"}\n", id);
            say(text);
        } else if (strcmp(mode, "deaf") == 0) {
            (void)raise(SIGSTOP);
        } else if (strcmp(mode, "slow_bytes") == 0) {
            char text[256];
            (void)snprintf(text, sizeof text, "{\"type\":\"result\",\"id\":\"%.16s\",%s}\n", id, ok);
            for (const char *p = text; *p != '\0'; p++) {
                (void)!write(3, p, 1);
            }
        } else {
            reply(id, ok);
        }
    }
}
