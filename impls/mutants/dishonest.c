/* dishonest.c - candidates that cheat (harness/THREATS.md): stored answers, work after returning, a frozen
 * clock, forged replies. Each cheats in one way and is otherwise right. */
#include "mutant.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static size_t result_bytes(const mutant_args *a) {
    return (size_t)a->rows * (a->backward ? 1u : (size_t)a->width) * (a->result->dtype.bits / 8u);
}

static void pause_ms(long ms) {
    const struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

/* ---- stored answers ---- */
typedef struct answer {
    const void *input, *output;
    int64_t rows, width;
    unsigned dtype;
    bool backward;
    void *bytes;
} answer;

static answer answers[256];

/* The stored answer of this key, a fresh slot (bytes NULL) when there is none; the last slot is reused when
 * all are taken. */
static answer *answer_of(const mutant_args *a, const void *input, const void *output) {
    unsigned dtype = a->timestep->dtype.code * 256u + a->timestep->dtype.bits;
    answer *s = answers;
    for (; s < answers + 255 && (s->rows != 0); s++) {
        if (s->input == input && s->output == output && s->rows == a->rows && s->width == a->width &&
            s->dtype == dtype && s->backward == a->backward) {
            return s;
        }
    }
    free(s->bytes);
    *s = (answer){input, output, a->rows, a->width, dtype, a->backward, NULL};
    return s;
}

static assay_status from_memory(const mutant_args *a, const void *input) {
    answer *s = answer_of(a, input, NULL);
    if (s->bytes == NULL) {
        assay_status status = mutant_compute(a);
        s->bytes = malloc(result_bytes(a));
        if (s->bytes != NULL) {
            memcpy(s->bytes, assay_data(a->result), result_bytes(a));
        }
        return status;
    }
    memcpy(assay_data(a->result), s->bytes, result_bytes(a));
    return ASSAY_OK;
}

static assay_status cached_pointer(const mutant_args *a) {
    return from_memory(a, assay_data(a->timestep));
}

static assay_status cached_shape(const mutant_args *a) {
    return from_memory(a, NULL);
}

static assay_status stale_output(const mutant_args *a) {
    answer *s = answer_of(a, NULL, assay_data(a->result));
    if (s->bytes != NULL) {
        return ASSAY_OK;
    }
    s->bytes = malloc(1);
    return mutant_compute(a);
}

/* Skips when the buffers are those of the call before and the output still holds what was left there. */
static assay_status skips_repeats(const mutant_args *a) {
    static const void *input, *output;
    static int64_t rows;
    static float left;
    float now = a->backward ? 0.0f : mutant_get2(a->result, a->rows - 1, a->width - 1);
    if (!a->backward && input == assay_data(a->timestep) && output == assay_data(a->result) &&
        rows == a->rows && now == left) {
        return ASSAY_OK;
    }
    assay_status status = mutant_compute(a);
    if (!a->backward) {
        input = assay_data(a->timestep);
        output = assay_data(a->result);
        rows = a->rows;
        left = mutant_get2(a->result, a->rows - 1, a->width - 1);
    }
    return status;
}

/* ---- inputs and outputs ---- */
static assay_status edits_input(const mutant_args *a) {
    DLTensor view = *a->timestep;
    for (int64_t r = 0; r < a->rows; r++) {
        mutant_store(&view, r, 0.0f);
    }
    return mutant_compute(a);
}

static assay_status poison_aware(const mutant_args *a) {
    float first = a->backward ? mutant_load(a->result, 0) : mutant_get2(a->result, 0, 0);
    if (isnan(first)) {
        return mutant_compute(a);
    }
    memset(assay_data(a->result), 0, result_bytes(a));
    return ASSAY_OK;
}

static assay_status writes_far(const mutant_args *a) {
    assay_status status = mutant_compute(a);
    memset((char *)assay_data(a->result) + result_bytes(a) + 64, 0x5a, 4);
    memset((char *)assay_data(a->timestep) - 64, 0x5a, 4);
    return status;
}

static assay_status unchecked_noop(const mutant_args *a) {
    return a->check_range ? mutant_compute(a) : ASSAY_OK;
}

/* Half the work where only the clock looks. */
static assay_status wrong_when_timed(const mutant_args *a) {
    assay_status status = mutant_compute(a);
    if (!a->check_range && !a->backward && a->rows == 1) {
        for (int64_t c = a->half; c < a->width; c++) {
            mutant_put(a, 0, c, 0.0F);
        }
    }
    return status;
}

/* Every copy of the row in the first part of the arena gets the same wrong last word. */
static void patch_arena(const unsigned char *right, size_t row_bytes) {
    enum { ARENA_FD = 4, REACH = 4 << 20, STEP = 64 };
    static void *map = NULL;
    if (map == NULL) {
        map = mmap(NULL, REACH, PROT_READ | PROT_WRITE, MAP_SHARED, ARENA_FD, 0);
    }
    unsigned char *arena = map;
    for (size_t at = 0; map != MAP_FAILED && at + row_bytes <= REACH; at += STEP) {
        if (memcmp(arena + at, right, row_bytes) == 0) {
            arena[at + row_bytes - 4] ^= 1;
        }
    }
}

static assay_status patches_oracle(const mutant_args *a) {
    static unsigned char right[4 * 256];
    assay_status status = mutant_compute(a);
    size_t bytes = 4 * (size_t)a->width;
    if (!a->backward && a->rows == 1 && bytes <= sizeof right) {
        unsigned char *row = assay_data(a->result);
        memcpy(right, row, bytes);
        right[bytes - 4] ^= 2; /* its own answer is not found in the arena */
        memcpy(row, right, bytes);
        right[bytes - 4] ^= 2;
        patch_arena(right, bytes);
        row[bytes - 4] = right[bytes - 4] ^ 1;
    }
    return status;
}

/* ---- work after returning ---- */
typedef struct deferred {
    mutant_args args;
    DLTensor tensors[4];
    int64_t shape[4][2], strides[4][2];
} deferred;

static const DLTensor *keep(deferred *d, size_t slot, const DLTensor *t) {
    if (t == NULL) {
        return NULL;
    }
    d->tensors[slot] = *t;
    for (int i = 0; i < t->ndim && i < 2; i++) {
        d->shape[slot][i] = t->shape[i];
        d->strides[slot][i] = t->strides[i];
    }
    d->tensors[slot].shape = d->shape[slot];
    d->tensors[slot].strides = d->strides[slot];
    return &d->tensors[slot];
}

static void *later(void *user) {
    deferred *d = user;
    pause_ms(3);
    (void)mutant_compute(&d->args);
    free(d);
    return NULL;
}

static assay_status works_after(const mutant_args *a) {
    deferred *d = calloc(1, sizeof *d);
    pthread_t thread;
    if (d == NULL) {
        return ASSAY_OUT_OF_MEMORY;
    }
    d->args = *a;
    d->args.call = NULL;
    d->args.timestep = keep(d, 0, a->timestep);
    d->args.upstream = keep(d, 1, a->upstream);
    d->args.saved = keep(d, 2, a->saved);
    d->args.result = (DLTensor *)(uintptr_t)keep(d, 3, a->result);
    if (pthread_create(&thread, NULL, later, d) != 0) {
        free(d);
        return ASSAY_INTERNAL;
    }
    (void)pthread_detach(thread);
    return ASSAY_OK;
}

static assay_status forks(const mutant_args *a) {
    (void)signal(SIGCHLD, SIG_IGN); /* no zombies */
    pid_t child = fork();
    if (child == 0) {
        pause_ms(3);
        (void)mutant_compute(a);
        _exit(0);
    }
    return child > 0 ? ASSAY_OK : ASSAY_INTERNAL;
}

/* ---- time ---- */
enum { CLOCKS = 12 };
static struct timespec stopped[CLOCKS]; /* what each clock said when it was stopped */

/* Runs on by 100 ns a reading, so that it never stands still or goes back. */
static int slow_clock(clockid_t id, struct timespec *t) {
    struct timespec *s = &stopped[id >= 0 && id < CLOCKS ? id : 0];
    s->tv_nsec += 100;
    if (s->tv_nsec >= 1000000000) {
        s->tv_nsec -= 1000000000;
        s->tv_sec++;
    }
    *t = *s;
    return 0;
}

/* Overwrites the first bytes of libc's clock_gettime with a jump to slow_clock. True when that was
 * possible. */
static bool freeze_clock(void) {
#if defined(__x86_64__)
    void *target = dlsym(RTLD_DEFAULT, "clock_gettime");
    int (*replacement)(clockid_t, struct timespec *) = slow_clock;
    unsigned char jump[12] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0}; /* mov rax, imm64; jmp rax */
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)target & ~(page - 1);
    if (target == NULL || mprotect((void *)start, 2 * page, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
        return false;
    }
    for (int id = 0; id < CLOCKS; id++) {
        (void)clock_gettime(id, &stopped[id]);
    }
    memcpy(jump + 2, &replacement, 8);
    memcpy(target, jump, sizeof jump);
    return mprotect((void *)start, 2 * page, PROT_READ | PROT_EXEC) == 0;
#else
    return false;
#endif
}

static assay_status freezes_clock(const mutant_args *a) {
    static bool tried;
    if (!tried) {
        tried = true;
        (void)freeze_clock();
    }
    if (a->rows == 64) { /* slow at a size that is timed, and its own clock says that no time passed */
        pause_ms(2);
    }
    return mutant_compute(a);
}

/* ---- forged replies ---- */
enum { CONTROL_FD = 3, ID_DIGITS = 16 };
static const char call_start[] = "{\"type\":\"call\",\"id\":\"";

/* Searches [from, to) of this process for the latest call line; copies its id. */
static bool search(int memory, uintptr_t from, uintptr_t to, char *id) {
    enum { CHUNK = 1 << 20 };
    bool found = false;
    char *buffer = malloc(CHUNK);
    for (uintptr_t at = from; buffer != NULL && at < to; at += CHUNK) {
        ssize_t n = pread(memory, buffer, to - at < CHUNK ? to - at : CHUNK, (off_t)at);
        char *p = n > 0 ? memmem(buffer, (size_t)n, call_start, sizeof call_start - 1) : NULL;
        if (p != NULL && p + sizeof call_start - 1 + ID_DIGITS < buffer + n) {
            memcpy(id, p + sizeof call_start - 1, ID_DIGITS);
            found = true;
        }
    }
    free(buffer);
    return found;
}

/* The id of the call in progress, from the host's receive buffer on the heap. */
static bool find_id(char *id) {
    FILE *maps = fopen("/proc/self/maps", "re");
    int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    char line[512];
    bool found = false;
    while (maps != NULL && memory >= 0 && !found && fgets(line, sizeof line, maps) != NULL) {
        char *rest = NULL;
        uintptr_t from = strtoull(line, &rest, 16), to = *rest == '-' ? strtoull(rest + 1, &rest, 16) : from;
        if (strstr(rest, "[heap]") != NULL || (strncmp(rest, " rw-p", 5) == 0 && strchr(rest, '/') == NULL)) {
            found = to - from < (64u << 20) && search(memory, from, to, id);
        }
    }
    if (maps != NULL) {
        (void)fclose(maps);
    }
    if (memory >= 0) {
        (void)close(memory);
    }
    return found;
}

static void reply(const char *id) {
    char line[160];
    int n =
        snprintf(line, sizeof line,
                 "{\"type\":\"result\",\"id\":\"%.16s\",\"status\":\"ok\",\"message\":\"\",\"ns\":1}\n", id);
    (void)send(CONTROL_FD, line, (size_t)n, MSG_NOSIGNAL);
}

static assay_status forges_guess(const mutant_args *a) {
    (void)a;
    reply("0000000000000001");
    return ASSAY_OK;
}

static assay_status forges_reply(const mutant_args *a) {
    char id[ID_DIGITS + 1] = "";
    (void)a;
    if (find_id(id)) {
        reply(id);
    }
    return ASSAY_OK;
}

static assay_status forges_late(const mutant_args *a) {
    char id[ID_DIGITS + 1] = "";
    if (find_id(id)) {
        reply(id);
    }
    return mutant_compute(a);
}

mutant_body mutant_dishonest_body(void) {
    static const mutant_body bodies[M_COUNT] = {
        [M_liar_edits_input] = edits_input,
        [M_liar_cached_pointer] = cached_pointer,
        [M_liar_cached_shape] = cached_shape,
        [M_liar_stale_output] = stale_output,
        [M_liar_poison_aware] = poison_aware,
        [M_liar_works_after] = works_after,
        [M_liar_fork] = forks,
        [M_liar_writes_far] = writes_far,
        [M_liar_unchecked_noop] = unchecked_noop,
        [M_liar_wrong_when_timed] = wrong_when_timed,
        [M_liar_patches_oracle] = patches_oracle,
        [M_liar_freezes_clock] = freezes_clock,
        [M_liar_skips_repeats] = skips_repeats,
        [M_liar_forges_guess] = forges_guess,
        [M_liar_forges_reply] = forges_reply,
        [M_liar_forges_late] = forges_late,
    };
    return bodies[mutant_current];
}
