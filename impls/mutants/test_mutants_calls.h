/* test_mutants_calls.h - second half of test_mutants.c: invalid calls, the child process, and the judgement
 * per subject. */

/* ---- invalid calls and valid edges ---- */
typedef struct edge {
    const char *name;
    int base; /* probe to start from */
    assay_status want;
    void (*change)(setup *s);
} edge;

static void set_value(setup *s, int64_t row, float x) {
    memcpy(s->in.data + 4 * row, &x, 4);
}
#define CHANGE(name, ...)                                                                                    \
    static void name(setup *s) {                                                                             \
        __VA_ARGS__                                                                                          \
    }
CHANGE(odd, s->attrs[0].i = 255; s->shape[1] = 255; s->stride[0] = 255;)
CHANGE(odd_unchecked, odd(s); s->attrs[2].i = 0;)
CHANGE(zero_width, s->attrs[0].i = 0;)
CHANGE(minus_width, s->attrs[0].i = -2;)
CHANGE(zero_period, s->attrs[1].f = 0;)
CHANGE(nan_first, set_value(s, 0, NAN);)
CHANGE(nan_middle, set_value(s, 2, NAN);)
CHANGE(nan_last, set_value(s, 4, NAN);)
CHANGE(infinite, set_value(s, 1, INFINITY);)
CHANGE(negative, set_value(s, 1, -1.0f);)
CHANGE(tiny_negative, set_value(s, 1, -0x1p-149f);)
CHANGE(above, set_value(s, 1, 1.5f);)
CHANGE(just_above, set_value(s, 1, 0x1.000002p0f);)
CHANGE(matrix, s->t.ndim = 2;)
CHANGE(empty, s->in_shape[0] = 0; s->shape[0] = 0;)
CHANGE(
    integer, s->t.dtype.code = kDLInt; for (int i = 0; i < 5; i++) { ((int *)(void *)s->in.data)[i] = i; })
CHANGE(doubles, s->t.dtype.bits = 64; memset(s->in.data, 0, 40);)
CHANGE(no_timestep, s->inputs[s->call.input_count - 1] = NULL;)
CHANGE(no_output, s->outputs[0] = NULL;)
CHANGE(row_less, s->shape[0] -= 1;)
CHANGE(saved_row_less, s->saved_shape[0] -= 1;)
CHANGE(minus_zero, set_value(s, 0, -0.0f);)
CHANGE(zero, set_value(s, 0, 0.0f);)
CHANGE(one, set_value(s, 0, 1.0f);)
CHANGE(unchecked_nan, s->attrs[2].i = 0; nan_middle(s);)
CHANGE(unchecked_above, s->attrs[2].i = 0; above(s);)

static const edge edges[] = {
#define BAD(change)                                                                                          \
    { #change, 0, ASSAY_INVALID_ARGUMENT, change }
#define BAD_GRAD(change)                                                                                     \
    { #change, 18, ASSAY_INVALID_ARGUMENT, change }
#define GOOD(change)                                                                                         \
    { #change, 0, ASSAY_OK, change }
    BAD(odd),
    BAD(odd_unchecked),
    BAD(zero_width),
    BAD(minus_width),
    BAD(zero_period),
    BAD(nan_first),
    BAD(nan_middle),
    BAD(nan_last),
    BAD(infinite),
    BAD(negative),
    BAD(tiny_negative),
    BAD(above),
    BAD(just_above),
    BAD(matrix),
    BAD(empty),
    BAD(integer),
    BAD(doubles),
    BAD(no_timestep),
    BAD(no_output),
    BAD(row_less),
    BAD_GRAD(row_less),
    BAD_GRAD(saved_row_less),
    BAD_GRAD(zero_width),
    BAD_GRAD(empty),
    GOOD(minus_zero),
    GOOD(zero),
    GOOD(one),
    GOOD(unchecked_nan),
    GOOD(unchecked_above),
};
enum { EDGES = sizeof edges / sizeof edges[0] };

static void run_edges(const assay_operator *op, outcome *o) {
    for (int i = 0; i < EDGES; i++) {
        setup s, next;
        prepare_call(&s, edges[i].base);
        edges[i].change(&s);
        assay_status status = (edges[i].base == 0 ? op->forward : op->backward)(&s.call);
        bool untouched = true;
        for (size_t j = 0; j + 4 <= s.out.bytes; j += 4) {
            untouched = untouched && memcmp(s.out.data + j, &(uint32_t){CLEAN_WORD}, 4) == 0;
        }
        o->rejection += status != edges[i].want;
        o->dirty += edges[i].want == ASSAY_OK ? untouched : !untouched || outside_changed(&s.out);
        finish_call(&s);
        prepare_call(&next, 0);
        o->after += op->forward(&next.call) != ASSAY_OK;
        finish_call(&next);
    }
}

/* ---- the child ---- */
static bool is(const subject *s, const char *class_name) {
    return strcmp(s->class_name, class_name) == 0;
}

static void child(const subject *s, outcome *o) {
    char path[512];
    int pair[2], quiet = open("/dev/null", O_WRONLY);
    (void)signal(SIGSEGV, SIG_DFL);
    (void)signal(SIGBUS, SIG_DFL);
    (void)signal(SIGABRT, SIG_DFL);
    (void)dup2(quiet, 1);
    (void)dup2(quiet, 2);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 || dup2(pair[1], 3) != 3) {
        _exit(9);
    }
    int other_end = pair[0] == 3 ? dup(pair[0]) : pair[0];
    char *line = malloc(200); /* what a host would have on its heap */
    (void)snprintf(line, 200, "%s", "{\"type\":\"call\",\"id\":\"0123456789abcdef\",\"op\":\"x\"}");
    (void)snprintf(path, sizeof path, MUTANTS_DIR "/%s.so", s->name);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    union {
        void *object;
        assay_adapter_fn function;
    } symbol = {library == NULL ? NULL : dlsym(library, ASSAY_ADAPTER_SYMBOL)};
    (void)alarm(is(s, "runner") ? 1 : 5);
    const assay_adapter_info *info = symbol.object == NULL ? NULL : symbol.function();
    if (info == NULL || info->abi_version != ASSAY_ABI_VERSION ||
        strcmp(info->operators[0].name, "timestep_sinusoid_h3") != 0) {
        _exit(0);
    }
    o->loaded = strcmp(info->name, s->name) == 0 && strcmp(info->lineage, "libm") == 0 &&
                info->memory == ASSAY_MEMORY_HOST;
    const assay_operator *op = info->operators;
    if (op->prepare != NULL) {
        (void)op->prepare(&prepared_state, NULL, 0);
    }
    bool wants_big = strcmp(s->name, "rows_65536") == 0 || strcmp(s->name, "index_float") == 0 ||
                     strcmp(s->name, "base") == 0;
    for (int i = 0; i < PROBES; i++) {
        if ((probes[i].backward && op->backward == NULL) || (probes[i].big && !wants_big)) {
            continue;
        }
        o->probe[i] = run_probe(op, i);
    }
    o->probe[0] |= run_in_place(op) | run_prefilled(op, 0, 0.5f) | run_prefilled(op, 3, INFINITY);
    char byte;
    ssize_t n = recv(other_end, &byte, 1, MSG_DONTWAIT);
    o->probe[0] |= n >= 0 ? SPOKE : 0;
    if (op->backward != NULL) {
        run_edges(op, o);
    }
    o->finished = 1;
    _exit(0);
}

static outcome run_subject(const subject *s) {
    outcome *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        child(s, shared);
    }
    while (waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status)) {
        (void)kill(pid, SIGKILL);
        shared->lost = 1;
    }
    shared->lost |= WIFSIGNALED(status) || WEXITSTATUS(status) != 0 || (shared->loaded && !shared->finished);
    outcome copy = *shared;
    (void)munmap(shared, sizeof *shared);
    return copy;
}

/* ---- what the rows of the table mean here ---- */
static int any(const outcome *o, bool backward) {
    int flags = 0;
    for (int i = 0; i < PROBES; i++) {
        flags |= probes[i].backward == backward ? o->probe[i] : 0;
    }
    return flags;
}

/* Some forward probe agrees, some does not: the fault depends on the batch, the place or the layout. */
static bool mixed(const outcome *o) {
    bool agrees = false, differs = false;
    for (int i = 0; i < PROBES; i++) {
        if (!probes[i].backward && (o->probe[i] & DONE)) {
            *(o->probe[i] & (BYTES | STATUS) ? &differs : &agrees) = true;
        }
    }
    return agrees && differs;
}

static bool departs(const subject *s, const outcome *o) {
    int forward = any(o, false), gradient = any(o, true), edge_faults = o->rejection + o->dirty + o->after;
    const char *suite = s->suite;
    if (strcmp(s->expected, "unloadable") == 0) {
        return o->loaded == 0;
    }
    if (strcmp(s->expected, "incomplete") == 0) {
        return o->loaded && (forward & STATUS || !(gradient & DONE)) && !(forward & BYTES);
    }
    if (strcmp(s->expected, "refused") == 0) {
        return forward & COARSE && gradient & (COARSE | BYTES) && o->rejection == 0;
    }
    if (strcmp(s->expected, "mistrusted") == 0) {
        return !(forward & (STATUS | OUTSIDE | INPUT)) && !(gradient & BYTES);
    }
    if (is(s, "runner")) {
        return o->lost || forward & (STATUS | SPOKE);
    }
    if (strcmp(s->expected, "crash") == 0 && !is(s, "dishonest")) {
        return o->lost || (forward | gradient) & (OUTSIDE | INPUT);
    }
    if (is(s, "dishonest")) {
        return o->lost || (forward | gradient) & (BYTES | OUTSIDE | INPUT | UNSTEADY | UNWRITTEN | SPOKE);
    }
    if (strcmp(suite, "validation") == 0) {
        return edge_faults > 0 && !((forward | gradient) & OUTSIDE);
    }
    if (strcmp(suite, "gradients") == 0) {
        return gradient & BYTES && !(forward & BYTES) && edge_faults == 0;
    }
    if (strcmp(suite, "memory") == 0) {
        return forward & UNWRITTEN;
    }
    if (strcmp(suite, "invariance") == 0) {
        return mixed(o) && edge_faults == 0;
    }
    if (strcmp(suite, "determinism") == 0) {
        return forward & (UNSTEADY | BYTES) && !(forward & (OUTSIDE | STATUS));
    }
    return forward & (strcmp(suite, "accuracy") == 0 ? COARSE : BYTES) &&
           !(forward & (STATUS | OUTSIDE | INPUT));
}

static bool spotless(const outcome *o) {
    int flags = any(o, false) | any(o, true);
    return o->loaded && !o->lost && flags == DONE && o->rejection + o->dirty + o->after == 0;
}

static void describe(const subject *s, const outcome *o, char *text, size_t n) {
    (void)snprintf(
        text, n,
        "%s (%s, %s, %s): loaded %d, lost %d, forward %#x, gradient %#x, statuses %d, dirtied %d, next %d",
        s->name, s->class_name, s->suite, s->expected, o->loaded, o->lost, (unsigned)any(o, false),
        (unsigned)any(o, true), o->rejection, o->dirty, o->after);
}

Test(mutants, base_and_variants_give_the_promised_bits) {
    expect_all();
    int seen = 0;
    for (int i = 0; i < SUBJECTS; i++) {
        if (is(&subjects[i], "variant")) {
            outcome o = run_subject(&subjects[i]);
            char text[400];
            describe(&subjects[i], &o, text, sizeof text);
            cr_expect(spotless(&o), "%s", text);
            cr_expect(o.probe[0] & DONE && o.probe[20] & DONE, "%s: probes did not run", subjects[i].name);
            seen++;
        }
    }
    cr_expect_geq(seen, 8);
}

Test(mutants, every_fault_shows_as_its_row_says) {
    expect_all();
    int mutants = 0;
    for (int i = 0; i < SUBJECTS; i++) {
        if (!is(&subjects[i], "variant")) {
            outcome o = run_subject(&subjects[i]);
            char text[400];
            describe(&subjects[i], &o, text, sizeof text);
            cr_expect(departs(&subjects[i], &o), "%s", text);
            mutants += is(&subjects[i], "mutant");
        }
    }
    cr_expect_geq(mutants, 45, "the issue asks for at least 40 mutants");
}

Test(mutants, names_are_unique_and_suites_exist) {
    static const char *const suites[] = {"",          "validation", "parity",      "accuracy", "invariance",
                                         "gradients", "memory",     "determinism", "timing"};
    for (int i = 0; i < SUBJECTS; i++) {
        bool known = false;
        for (size_t j = 0; j < sizeof suites / sizeof suites[0]; j++) {
            known = known || strcmp(subjects[i].suite, suites[j]) == 0;
        }
        cr_expect(known, "%s: suite '%s'", subjects[i].name, subjects[i].suite);
        for (int j = 0; j < i; j++) {
            cr_expect_str_neq(subjects[i].name, subjects[j].name);
        }
    }
}
