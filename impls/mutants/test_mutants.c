/* test_mutants.c - direct test of the self-test subjects, without judge or worker: the base and the variants
 * give the promised bits, and every other subject departs from them in the way its row of subjects.h says.
 * Each subject is loaded and called in a child process of its own. The promised bits come from a second,
 * shorter writing of the formulas in this file. */
#include "assay/adapter.h"
#include "subjects.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct subject {
    const char *name, *class_name, *suite, *expected;
} subject;

static const subject subjects[] = {
#define X(name, class_, suite, expected, source, text) {#name, #class_, suite, #expected},
    MUTANT_LIST(X)
#undef X
};
enum {
    SUBJECTS = sizeof subjects / sizeof subjects[0],
    F32 = 0,
    BF16 = 1,
    F16 = 2,
    PAGE = 4096,
    CLEAN_WORD = 0x7fc0a55a
};
enum { MIDDLE, AT_END, AT_START };

/* ---- probes: valid calls ---- */
typedef struct probe {
    int64_t rows, width, stride;
    int dtype, misalign, place, repeat;
    bool backward, thread, unchecked, big;
    double period;
} probe;

static const probe probes[] = {
    {.rows = 5, .width = 256},
    {.rows = 1, .width = 256},
    {.rows = 33, .width = 2},
    {.rows = 33, .width = 96},
    {.rows = 33, .width = 250},
    {.rows = 9, .width = 1000},
    {.rows = 5, .width = 256, .period = 100.0},
    {.rows = 300, .width = 256},
    {.rows = 33, .width = 256, .dtype = BF16},
    {.rows = 33, .width = 256, .dtype = F16},
    {.rows = 10, .width = 256, .stride = 2},
    {.rows = 21, .width = 256, .misalign = 4},
    {.rows = 7, .width = 64},
    {.rows = 5, .width = 256, .unchecked = true},
    {.rows = 5, .width = 256, .thread = true},
    {.rows = 5, .width = 256, .place = AT_END},
    {.rows = 5, .width = 256, .place = AT_START},
    {.rows = 64, .width = 32, .repeat = 120},
    {.rows = 5, .width = 256, .backward = true},
    {.rows = 1, .width = 256, .backward = true},
    {.rows = 33, .width = 250, .backward = true},
    {.rows = 300, .width = 256, .backward = true},
    {.rows = 33, .width = 2, .backward = true},
    {.rows = 33, .width = 256, .backward = true, .dtype = BF16},
    {.rows = 33, .width = 256, .backward = true, .dtype = F16},
    {.rows = 257, .width = 2},
    {.rows = 257, .width = 2, .place = AT_END},
    {.rows = 1, .width = 256, .unchecked = true},
    {.rows = 65600, .width = 256, .big = true},
};
enum { PROBES = sizeof probes / sizeof probes[0] };

/* What a row of the table leaves out. */
static int64_t stride_of(const probe *p) {
    return p->stride == 0 ? 1 : p->stride;
}
static double period_of(const probe *p) {
    return p->period == 0 ? 10000.0 : p->period;
}
static int repeat_of(const probe *p) {
    return p->repeat == 0 ? 1 : p->repeat;
}

/* What a probe of a subject showed. */
enum {
    BYTES = 1,     /* output bytes differ from the promised ones */
    COARSE = 2,    /* ... by more than 2^-23 somewhere, or not comparable */
    UNWRITTEN = 4, /* poison left */
    OUTSIDE = 8,   /* something outside the output changed */
    INPUT = 16,    /* the input changed */
    STATUS = 32,   /* not ASSAY_OK */
    UNSTEADY = 64, /* repeats differ among themselves */
    SPOKE = 128,   /* bytes or end of file on descriptor 3 */
    DONE = 256,
};

typedef struct outcome {
    int probe[PROBES], rejection, dirty,
        after;  /* counts of wrong statuses, dirtied outputs, wrong next calls */
    int loaded; /* 1 a sound descriptor, 0 refused */
    int lost;   /* the child crashed, stopped, exited or ran out of time */
    int finished;
} outcome;

static float (*volatile cosine)(float) = cosf, (*volatile sine)(float) = sinf,
                        (*volatile exponential)(float) = expf;

/* ---- the promised bits, a second writing ---- */
static uint16_t round_bf16(float x) {
    uint32_t u;
    memcpy(&u, &x, 4);
    return (uint16_t)((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
}

/* Nearest half by search over all positive patterns: slow and obviously right. */
static float wide_f16(uint16_t h) {
    int e = h >> 10 & 31, m = h & 1023;
    float x = e == 0 ? ldexpf((float)m, -24) : ldexpf((float)(m + 1024), e - 25);
    return h & 0x8000 ? -x : x;
}
static uint16_t round_f16(float x) {
    uint16_t low = 0, high = 0x7c00; /* the largest half not above |x| */
    while (high - low > 1) {
        uint16_t middle = (uint16_t)((low + high) / 2);
        *(wide_f16(middle) <= fabsf(x) ? &low : &high) = middle;
    }
    double down = fabs((double)x) - (double)wide_f16(low),
           up = (double)wide_f16((uint16_t)(low + 1)) - fabs((double)x);
    uint16_t best = up < down || (up == down && (low & 1)) ? (uint16_t)(low + 1) : low;
    return (uint16_t)(best | (signbit(x) ? 0x8000 : 0));
}

static uint32_t noise(uint32_t i) {
    i = (i ^ (i >> 16)) * 0x45d9f3bu;
    i = (i ^ (i >> 16)) * 0x45d9f3bu;
    return i ^ (i >> 16);
}

/* Row r of the inputs of a probe, after narrowing: edges, a subnormal, neighbours that are close, then
 * anything. */
static float value(const probe *p, int64_t r) {
    static const float first[] = {0.3141592f, 0.0f, 1.0f, 0x1p-130f, -0.0f, 0.7123f, 0.7124f};
    float x = r < 7 ? first[r] : (float)(noise((uint32_t)r + 1u) >> 8) * 0x1p-24f;
    if (p->dtype == BF16) {
        uint32_t u = (uint32_t)round_bf16(x) << 16;
        memcpy(&x, &u, 4);
    }
    return p->dtype == F16 ? wide_f16(round_f16(x)) : x;
}

static float gradient_in(int64_t i) {
    return (float)((int32_t)noise((uint32_t)i + 99u) >> 8) * 0x1p-22f;
}

static void table(const probe *p, float *f) {
    int64_t half = p->width / 2;
    volatile float c = (float)-log(period_of(p)), inv = 1.0f / (float)half;
    for (int64_t k = 0; k < half; k++) {
        volatile float ck = c * (float)k, e = ck * inv;
        f[k] = exponential(e);
    }
}

static void promised_forward(const probe *p, float *out) {
    float f[2048] = {0};
    int64_t half = p->width / 2;
    table(p, f);
    for (int64_t r = 0; r < p->rows; r++) {
        for (int64_t k = 0; k < half; k++) {
            volatile float a = value(p, r) * f[k];
            out[r * p->width + k] = cosine(a);
            out[r * p->width + half + k] = sine(a);
        }
    }
}

static float sum_tree(const float *x, int64_t n) { /* x has n elements, n a power of two */
    float half[2048];
    if (n == 1) {
        return x[0];
    }
    for (int64_t i = 0; i < n / 2; i++) {
        half[i] = x[i] + x[i + n / 2];
    }
    return sum_tree(half, n / 2);
}

static void promised_backward(const probe *p, const float *saved, float *grad) {
    float f[2048] = {0}, x[4096];
    int64_t half = p->width / 2, n = 1;
    table(p, f);
    while (n < p->width) {
        n *= 2;
    }
    for (int64_t r = 0; r < p->rows; r++) {
        memset(x, 0, sizeof x);
        for (int64_t k = 0; k < half; k++) {
            volatile float gs = gradient_in(r * p->width + k) * saved[r * p->width + half + k];
            volatile float gc = gradient_in(r * p->width + half + k) * saved[r * p->width + k];
            x[k] = -gs * f[k];
            x[half + k] = gc * f[k];
        }
        grad[r] = sum_tree(x, n);
    }
}

static float *expectation[PROBES], *saved_output[PROBES]; /* made once, before any fork */

static void expect_all(void) {
    for (int i = 0; i < PROBES; i++) {
        const probe *p = &probes[i];
        float *forward = malloc((size_t)(p->rows * p->width) * sizeof(float));
        promised_forward(p, forward);
        expectation[i] = forward;
        if (p->backward) {
            saved_output[i] = forward;
            expectation[i] = malloc((size_t)p->rows * sizeof(float));
            promised_backward(p, forward, expectation[i]);
        }
    }
}

/* ---- buffers between unmapped pages ---- */
typedef struct buffer {
    char *map, *data;
    size_t map_bytes, bytes;
} buffer;

static buffer make_buffer(size_t bytes, int place, int misalign) {
    buffer b = {.bytes = bytes};
    const size_t page = PAGE, zones = 1024;
    size_t body = (bytes + zones + page - 1) / page * page;
    b.map_bytes = body + 2 * page;
    b.map = mmap(NULL, b.map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (b.map == MAP_FAILED || mprotect(b.map + PAGE, body, PROT_READ | PROT_WRITE) != 0) {
        abort();
    }
    for (size_t i = 0; i < body / 4; i++) {
        ((uint32_t *)(void *)(b.map + PAGE))[i] = CLEAN_WORD;
    }
    b.data = place == AT_END     ? b.map + PAGE + body - bytes
             : place == AT_START ? b.map + PAGE
                                 : b.map + PAGE + 512 + misalign;
    return b;
}

/* Words around the data that changed. */
static bool outside_changed(const buffer *b) {
    for (const char *p = b->map + PAGE; p < b->map + b->map_bytes - PAGE; p++) {
        uint32_t word = CLEAN_WORD;
        if ((p < b->data || p >= b->data + b->bytes) && *p != ((char *)&word)[(p - b->map) % 4]) {
            return true;
        }
    }
    return false;
}

static void drop(buffer *b) {
    (void)munmap(b->map, b->map_bytes);
}

static const DLDataType dtypes[] = {{kDLFloat, 32, 1}, {kDLBfloat, 16, 1}, {kDLFloat, 16, 1}};

static size_t size_of(int dtype) {
    return dtype == F32 ? 4 : 2;
}

static void put_value(char *at, int dtype, float x) {
    uint16_t h = dtype == BF16 ? round_bf16(x) : dtype == F16 ? round_f16(x) : 0;
    memcpy(at, dtype == F32 ? (void *)&x : (void *)&h, size_of(dtype));
}

/* ---- one call ---- */
typedef struct setup {
    buffer in, out, up, saved;
    int64_t in_shape[2], in_stride[2], shape[2], stride[2], grad_stride[2], up_shape[2], saved_shape[2];
    DLTensor t, o, g, s;
    const DLTensor *inputs[3];
    DLTensor *outputs[1];
    assay_attr attrs[3];
    char message[128];
    assay_call call;
} setup;

static void *prepared_state;

static void prepare_call(setup *s, int index) {
    const probe *p = &probes[index];
    size_t elements = (size_t)(p->rows * p->width),
           out_bytes = p->backward ? (size_t)p->rows * size_of(p->dtype) : elements * 4;
    memset(s, 0, sizeof *s);
    s->in =
        make_buffer((size_t)((p->rows - 1) * stride_of(p) + 1) * size_of(p->dtype), p->place, p->misalign);
    s->out = make_buffer(out_bytes, p->place, p->misalign);
    for (int64_t r = 0; r < p->rows; r++) {
        put_value(s->in.data + (size_t)(r * stride_of(p)) * size_of(p->dtype), p->dtype, value(p, r));
    }
    s->in_shape[0] = p->rows, s->in_shape[1] = 1, s->in_stride[0] = stride_of(p), s->in_stride[1] = 1;
    s->shape[0] = p->rows, s->shape[1] = p->width, s->stride[0] = p->width, s->stride[1] = 1,
    s->grad_stride[0] = 1;
    memcpy(s->saved_shape, s->shape, sizeof s->shape);
    s->t = (DLTensor){.data = s->in.data,
                      .device = {kDLCPU, 0},
                      .ndim = 1,
                      .dtype = dtypes[p->dtype],
                      .shape = s->in_shape,
                      .strides = s->in_stride};
    s->o = (DLTensor){.data = s->out.data,
                      .device = {kDLCPU, 0},
                      .ndim = 2,
                      .dtype = dtypes[F32],
                      .shape = s->shape,
                      .strides = s->stride};
    s->inputs[0] = &s->t;
    if (p->backward) {
        s->up = make_buffer(elements * 4, MIDDLE, 0);
        s->saved = make_buffer(elements * 4, MIDDLE, 0);
        memcpy(s->saved.data, saved_output[index], elements * 4);
        for (size_t i = 0; i < elements; i++) {
            ((float *)(void *)s->up.data)[i] = gradient_in((int64_t)i);
        }
        s->g = s->s = s->o;
        s->g.data = s->up.data;
        s->s.data = s->saved.data;
        s->s.shape = s->saved_shape;
        s->o.ndim = 1, s->o.dtype = dtypes[p->dtype], s->o.strides = s->grad_stride;
        s->inputs[0] = &s->g, s->inputs[1] = &s->s, s->inputs[2] = &s->t;
    }
    s->outputs[0] = &s->o;
    s->attrs[0] = (assay_attr){"width", ASSAY_ATTR_INT, p->width, 0, NULL};
    s->attrs[1] = (assay_attr){"max_period", ASSAY_ATTR_FLOAT, 0, period_of(p), NULL};
    s->attrs[2] = (assay_attr){"check_range", ASSAY_ATTR_BOOL, !p->unchecked, 0, NULL};
    s->call = (assay_call){.struct_bytes = sizeof s->call,
                           .attrs = s->attrs,
                           .attr_count = 3,
                           .inputs = s->inputs,
                           .input_count = p->backward ? 3 : 1,
                           .outputs = s->outputs,
                           .output_count = 1,
                           .state = prepared_state,
                           .message = s->message,
                           .message_bytes = sizeof s->message};
}

static void finish_call(setup *s) {
    drop(&s->in);
    drop(&s->out);
    if (s->up.map != NULL) {
        drop(&s->up);
        drop(&s->saved);
    }
}

typedef struct threaded {
    assay_entry entry;
    const assay_call *call;
    assay_status status;
} threaded;

static void *call_on_thread(void *user) {
    threaded *t = user;
    t->status = t->entry(t->call);
    return NULL;
}

static assay_status make_call(const setup *s, assay_entry entry, bool on_thread) {
    threaded t = {entry, &s->call, ASSAY_INTERNAL};
    pthread_t thread;
    if (!on_thread) {
        return entry(&s->call);
    }
    if (pthread_create(&thread, NULL, call_on_thread, &t) == 0) {
        (void)pthread_join(thread, NULL);
    }
    return t.status;
}

/* Flags of one output against the promised bits. */
static int judge(const setup *s, int index) {
    const probe *p = &probes[index];
    int64_t n = p->backward ? p->rows : p->rows * p->width,
            width = (int64_t)(p->backward ? size_of(p->dtype) : 4);
    uint32_t clean = CLEAN_WORD;
    int flags = 0;
    for (int64_t i = 0; i < n; i++) {
        float want = expectation[index][i], got;
        char bytes[4] = {0}, *at = s->out.data + i * width;
        put_value(bytes, p->backward ? p->dtype : F32, want);
        if (memcmp(at, bytes, (size_t)width) != 0) {
            flags |= BYTES;
            flags |= memcmp(at, &clean, (size_t)width) == 0 ||
                             (width == 2 && memcmp(at, (char *)&clean + 2, 2) == 0)
                         ? UNWRITTEN
                         : 0;
            memcpy(&got, at, 4 < width ? 4 : (size_t)width);
            flags |= width == 4 && fabsf(got - want) <= 0x1p-23f ? 0 : COARSE;
        }
    }
    for (int64_t r = 0; r < p->rows; r++) {
        char bytes[4] = {0};
        put_value(bytes, p->dtype, value(p, r));
        flags |=
            memcmp(s->in.data + (size_t)(r * stride_of(p)) * size_of(p->dtype), bytes, size_of(p->dtype)) == 0
                ? 0
                : INPUT;
    }
    return flags | (outside_changed(&s->out) || (stride_of(p) == 1 && outside_changed(&s->in)) ? OUTSIDE : 0);
}

static int run_probe(const assay_operator *op, int index) {
    const probe *p = &probes[index];
    setup s;
    int flags = DONE, first = 0;
    for (int i = 0; i < repeat_of(p); i++) {
        prepare_call(&s, index);
        assay_status status = make_call(&s, p->backward ? op->backward : op->forward, p->thread);
        int now = status == ASSAY_OK ? judge(&s, index) : STATUS;
        first = i == 0 ? now : first;
        flags |= now | (now != first ? UNSTEADY : 0);
        finish_call(&s);
    }
    return flags;
}

/* The same buffers again with other values, then with the old ones: stored answers show. */
static int run_in_place(const assay_operator *op) {
    setup s;
    prepare_call(&s, 0);
    float other = 0.625f, keep;
    (void)op->forward(&s.call);
    memcpy(&keep, s.in.data, 4);
    memcpy(s.in.data, &other, 4);
    for (int64_t i = 0; i < probes[0].rows * probes[0].width; i++) {
        memcpy(s.out.data + 4 * i, &(uint32_t){CLEAN_WORD}, 4);
    }
    (void)op->forward(&s.call);
    float got, want = cosine(other);
    memcpy(&got, s.out.data, 4);
    finish_call(&s);
    return got == want ? 0 : UNSTEADY;
}

/* The output filled with a finite number instead of NaN, as a buffer in use would be. */
static int run_prefilled(const assay_operator *op, int index, float fill) {
    setup s;
    prepare_call(&s, index);
    for (size_t i = 0; i < s.out.bytes / 4; i++) {
        ((float *)(void *)s.out.data)[i] = fill;
    }
    (void)op->forward(&s.call);
    int flags = judge(&s, index);
    finish_call(&s);
    return flags & BYTES ? UNWRITTEN : 0;
}
#include "test_mutants_calls.h"
