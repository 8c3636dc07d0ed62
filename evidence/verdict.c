/* verdict.c - the rule of verdicts as a function of rows. It reads plan, outcomes and provenance
 * only, never a stored state, so that run_end and verify get the same answer from the same evidence. */
#include "store_internal.h"
#include "text.h"

#include <stdio.h>
#include <string.h>

static assay_code read_failure(sqlite3 *db, assay_error *error) {
    return assay_sqlite_fail(db, "evidence", ASSAY_CODE_INTERNAL, "deriving the verdict", error);
}

/* One promise while its checks pass by. */
typedef struct tally {
    assay_promise_result result;
    char name[128];
    char broken[ASSAY_REASON_BYTES], unfinished[ASSAY_REASON_BYTES];
    bool owed;       /* a required check exists */
    unsigned passed; /* checks that passed and judged something */
    unsigned owed_passed;
    assay_strength weakest;
} tally;

static void tally_start(tally *t, const char *name, bool required) {
    *t = (tally){.weakest = ASSAY_STRENGTH_COUNT};
    (void)snprintf(t->name, sizeof t->name, "%s", name);
    t->result.name = t->name;
    t->result.required = required;
}

/* Adds one check. A fail breaks the promise, required or not. All checks of an optional promise are owed to
 * it: otherwise it could be kept by one of them. */
static void tally_add(tally *t, sqlite3_stmt *row) {
    const char *name = assay_column_text(row, 2);
    const bool required = sqlite3_column_int(row, 3) != 0 || !t->result.required;
    const char *outcome_text = assay_column_text(row, 5);
    const char *reason = assay_column_text(row, 6);
    const bool judged = sqlite3_column_int64(row, 7) > 0;
    assay_outcome outcome = ASSAY_OUTCOME_ERROR;
    assay_strength strength = ASSAY_STRENGTH_SAMPLED;
    (void)assay_outcome_parse(outcome_text, &outcome);
    (void)assay_strength_parse(assay_column_text(row, 4), &strength);
    t->owed = t->owed || required;
    if (outcome == ASSAY_OUTCOME_PASS && judged) {
        t->passed++;
        t->owed_passed += required;
        t->weakest = strength < t->weakest ? strength : t->weakest;
    } else if (outcome == ASSAY_OUTCOME_FAIL) {
        if (t->broken[0] == '\0') {
            (void)snprintf(t->broken, sizeof t->broken, "%s failed%s%s", name, reason[0] != '\0' ? ": " : "",
                           reason);
        }
    } else if (required && t->unfinished[0] == '\0') {
        (void)snprintf(t->unfinished, sizeof t->unfinished, "%s: %s%s%s", name,
                       outcome == ASSAY_OUTCOME_PASS ? "passed without judging an element" : outcome_text,
                       reason[0] != '\0' ? ": " : "", reason);
    }
}

static const assay_promise_result *tally_finish(tally *t) {
    assay_promise_result *r = &t->result;
    const char *reason = "";
    r->strength = t->passed > 0 ? assay_strength_text(t->weakest) : "";
    if (t->broken[0] != '\0') {
        r->state = ASSAY_PROMISE_BROKEN;
        reason = t->broken;
    } else if (t->owed && t->unfinished[0] == '\0' && t->owed_passed > 0) {
        r->state = ASSAY_PROMISE_KEPT;
    } else {
        r->state = ASSAY_PROMISE_NOT_VERIFIED;
        reason = t->unfinished[0] != '\0' ? t->unfinished : "no required check is planned for it";
    }
    (void)snprintf(r->reason, sizeof r->reason, "%s", reason);
    assay_text_tidy(r->reason); /* it may have been cut inside a character */
    return r;
}

assay_code assay_promise_derive(sqlite3 *db, int64_t run_id,
                                bool (*each)(void *context, const assay_promise_result *result),
                                void *context, assay_error *error) {
    static const char sql[] =
        "SELECT p.name, p.required, c.name, c.required, c.strength, c.outcome, c.reason, c.elements "
        "FROM promise p LEFT JOIN checks c ON c.run_id=p.run_id AND c.promise=p.name "
        "WHERE p.run_id=?1 ORDER BY p.ordinal, p.name, c.seq";
    sqlite3_stmt *row = NULL;
    tally t = {.name = ""};
    bool open = false, stop = false;
    int rc = sqlite3_prepare_v2(db, sql, -1, &row, NULL);
    if (rc == SQLITE_OK) {
        rc = sqlite3_bind_int64(row, 1, run_id);
    }
    while (!stop && rc == SQLITE_OK) {
        const int step = sqlite3_step(row);
        if (step != SQLITE_ROW) {
            rc = step;
            break;
        }
        if (!open || strcmp(assay_column_text(row, 0), t.name) != 0) {
            stop = open && !each(context, tally_finish(&t));
            tally_start(&t, assay_column_text(row, 0), sqlite3_column_int(row, 1) != 0);
            open = true;
        }
        if (sqlite3_column_type(row, 2) != SQLITE_NULL) {
            tally_add(&t, row);
        }
    }
    if (rc == SQLITE_DONE && open && !stop) {
        (void)each(context, tally_finish(&t));
    }
    (void)sqlite3_finalize(row);
    return rc == SQLITE_DONE || stop ? ASSAY_CODE_OK : read_failure(db, error);
}

/* First broken and first unverified among the required promises. */
typedef struct promise_sum {
    unsigned required;
    char broken[ASSAY_REASON_BYTES], unverified[ASSAY_REASON_BYTES];
} promise_sum;

static bool sum_promise(void *context, const assay_promise_result *r) {
    promise_sum *sum = context;
    if (!r->required) {
        return true;
    }
    sum->required++;
    char *slot = r->state == ASSAY_PROMISE_BROKEN         ? sum->broken
                 : r->state == ASSAY_PROMISE_NOT_VERIFIED ? sum->unverified
                                                          : NULL;
    if (slot != NULL && slot[0] == '\0') {
        (void)snprintf(slot, ASSAY_REASON_BYTES, "promise %s %s: %.180s", r->name,
                       r->state == ASSAY_PROMISE_BROKEN ? "broken" : "not verified", r->reason);
        assay_text_tidy(slot);
    }
    return true;
}

/* What keeps a run whose promises are all kept from being certified: the queries return one text and are read
 * in order; the rule is violated unless it equals `want` (or, with want NULL, is 64 lower-case hex digits).
 */
static const struct {
    const char *sql, *want, *reason;
} conditions[] = {
    {"SELECT kind FROM run WHERE id=?1", "certify", "kind %s does not certify"},
    {"SELECT coalesce((SELECT value FROM provenance WHERE run_id=?1 AND key='" ASSAY_KEY_CHANGED "'), 'no')",
     "no", "mistrusted: a file was changed or replaced during the run (%s)"},
    {"SELECT coalesce((SELECT name || ': requested ' || requested || ', effective ' || effective FROM knob "
     "WHERE run_id=?1 AND requested NOT IN ('auto', effective) ORDER BY role, name LIMIT 1), 'none')",
     "none", "mistrusted: a requested knob did not take effect (%s)"},
    {"SELECT value FROM provenance WHERE run_id=?1 AND key='assay.dirty'", "no",
     "the tree that Assay was built from is not known to be clean (assay.dirty = %s)"},
    {"SELECT value FROM provenance WHERE run_id=?1 AND key='candidate.dirty'", "no",
     "the candidate's tree is not known to be clean (candidate.dirty = %s)"},
    {"SELECT sha256 FROM binary WHERE run_id=?1 AND role='candidate'", NULL,
     "the candidate's binary is not known (sha256 = %s)"},
};

static bool condition_met(const char *want, const char *value) {
    return want != NULL ? strcmp(value, want) == 0
                        : strlen(value) == 64 && strspn(value, "0123456789abcdef") == 64;
}

/* Fills `why` with the first unmet condition, or leaves it empty. */
static assay_code check_conditions(sqlite3 *db, int64_t run_id, char why[ASSAY_REASON_BYTES],
                                   assay_error *error) {
    for (size_t i = 0; i < sizeof conditions / sizeof conditions[0] && why[0] == '\0'; i++) {
        sqlite3_stmt *stmt = NULL;
        int rc = sqlite3_prepare_v2(db, conditions[i].sql, -1, &stmt, NULL);
        if (rc == SQLITE_OK) {
            (void)sqlite3_bind_int64(stmt, 1, run_id);
            rc = sqlite3_step(stmt);
        }
        if (rc == SQLITE_ROW || rc == SQLITE_DONE) {
            const char *value = rc == SQLITE_ROW ? assay_column_text(stmt, 0) : "unknown";
            if (!condition_met(conditions[i].want, value)) {
                const char *format = conditions[i].reason;
                const char *hole = strstr(format, "%s");
                (void)snprintf(why, ASSAY_REASON_BYTES, "%.*s%.80s%s", (int)(hole - format), format, value,
                               hole + 2);
            }
        }
        (void)sqlite3_finalize(stmt);
        if (rc != SQLITE_ROW && rc != SQLITE_DONE) {
            return read_failure(db, error);
        }
    }
    return ASSAY_CODE_OK;
}

assay_code assay_verdict_derive(sqlite3 *db, int64_t run_id, assay_verdict *verdict, char *reason,
                                size_t reason_bytes, assay_error *error) {
    promise_sum sum = {.required = 0};
    char why[ASSAY_REASON_BYTES] = "";
    assay_code code = assay_promise_derive(db, run_id, sum_promise, &sum, error);
    if (code != ASSAY_CODE_OK) {
        return code;
    }
    *verdict = ASSAY_VERDICT_INCOMPLETE;
    if (sum.broken[0] != '\0') {
        *verdict = ASSAY_VERDICT_REFUSED;
        memcpy(why, sum.broken, sizeof why);
    } else if (sum.unverified[0] != '\0') {
        memcpy(why, sum.unverified, sizeof why);
    } else if (sum.required == 0) {
        (void)snprintf(why, sizeof why, "nothing was promised: the run has no required promise");
    } else {
        code = check_conditions(db, run_id, why, error);
        *verdict = why[0] == '\0' ? ASSAY_VERDICT_CERTIFIED : ASSAY_VERDICT_INCOMPLETE;
    }
    if (reason_bytes > 0) {
        (void)snprintf(reason, reason_bytes, "%s", why);
    }
    return code;
}
