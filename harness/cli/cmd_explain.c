/* cmd_explain.c - `assay explain CHECK`: the contract row, the case and the finding behind one check of a
 * run. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

static const cli_option options[] = {
    {"db", "FILE", "evidence database (default assay.db)", 0, false},
    {"run", "RUN", "run number, id prefix or latest (default latest)", 0, false},
    {0}};

static const char *text(sqlite3_stmt *s, int column) {
    const char *value = (const char *)sqlite3_column_text(s, column);
    return value != NULL ? value : "";
}

static void print_tolerances(const assay_contract *contract, const char *relation) {
    for (size_t i = 0; i < contract->tolerance_count; i++) {
        const assay_tolerance *t = &contract->tolerances[i];
        if (strcmp(t->relation, relation) == 0) {
            (void)printf("tolerance   %s %s: atol %g, rtol %g", t->output, assay_dtype_text(t->dtype),
                         t->atol, t->rtol);
            if (t->max_abs > 0.0) {
                (void)printf(", max abs %.9g", t->max_abs);
            }
            (void)printf(" (%s, %s: %s)\n", t->owner, t->date, t->reason);
        }
    }
}

static void print_rows(sqlite3 *db, int64_t run_id, int64_t seq, const char *sql, const char *label) {
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK) {
        (void)sqlite3_bind_int64(s, 1, run_id);
        (void)sqlite3_bind_int64(s, 2, seq);
        while (sqlite3_step(s) == SQLITE_ROW) {
            (void)printf("%-11s %s\n", label, text(s, 0));
        }
    }
    (void)sqlite3_finalize(s);
}

static assay_code explain(sqlite3 *db, int64_t run_id, const char *name, assay_error *error) {
    static const char sql[] =
        "SELECT c.seq, c.outcome, c.reason, c.elements, c.bad, c.strength, c.case_json, c.repro, p.name, "
        "p.relation,"
        " p.text, p.required, k.text, k.sha256 FROM checks c JOIN promise p ON p.run_id = c.run_id AND"
        " p.name = c.promise JOIN run r ON r.id = c.run_id JOIN contract k ON k.id = r.contract_id"
        " WHERE c.run_id = ?1 AND c.name = ?2";
    sqlite3_stmt *s = NULL;
    assay_code code = ASSAY_CODE_OK;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK) {
        return assay_fail(error, ASSAY_CODE_INTERNAL, "explain: %s", sqlite3_errmsg(db));
    }
    (void)sqlite3_bind_int64(s, 1, run_id);
    (void)sqlite3_bind_text(s, 2, name, -1, SQLITE_STATIC);
    if (sqlite3_step(s) == SQLITE_ROW) {
        assay_contract *contract = NULL;
        int64_t seq = sqlite3_column_int64(s, 0);
        (void)printf(
            "check       %s\noutcome     %s%s%s\njudged      %lld, of which %lld bad\nstrength    %s\n", name,
            text(s, 1), text(s, 2)[0] != '\0' ? ": " : "", text(s, 2), (long long)sqlite3_column_int64(s, 3),
            (long long)sqlite3_column_int64(s, 4), text(s, 5));
        (void)printf("promise     %s (relation %s, %s): %s\n", text(s, 8), text(s, 9),
                     sqlite3_column_int(s, 11) != 0 ? "required" : "not required", text(s, 10));
        if (assay_contract_parse(text(s, 12), strlen(text(s, 12)), &contract, error) == ASSAY_CODE_OK) {
            print_tolerances(contract, text(s, 9));
            assay_contract_free(contract);
        }
        (void)printf("contract    sha256 %s\ncase        %s\n", text(s, 13), text(s, 6));
        print_rows(db, run_id, seq,
                   "SELECT format('%s = %!.17g %s', name, value, unit) FROM metric WHERE run_id = ?1 AND seq "
                   "= ?2 ORDER BY name",
                   "metric");
        print_rows(
            db, run_id, seq,
            "SELECT format('%s %d: row %d channel %d input 0x%08x got 0x%08x want 0x%08x', kind, rank, row, "
            "channel, input_bits,"
            " got_bits, want_bits) FROM element WHERE run_id = ?1 AND seq = ?2 ORDER BY kind, rank LIMIT 8",
            "element");
        (void)printf("reproduce   %s\n", text(s, 7));
    } else {
        code = assay_fail(error, ASSAY_CODE_USAGE, "%s: run %lld has no such check (assay report lists them)",
                          name, (long long)run_id);
    }
    (void)sqlite3_finalize(s);
    return code;
}

static assay_code run(const cli_args *args, assay_error *error) {
    assay_store *store = NULL;
    int64_t run_id = 0;
    if (cli_open_store(args, ASSAY_STORE_READ, &store, error) != ASSAY_CODE_OK) {
        return error->code;
    }
    assay_code code = assay_store_run_find(store, cli_get(args, "run", "latest"), &run_id, error);
    if (code == ASSAY_CODE_OK) {
        code = explain(assay_store_handle(store), run_id, args->positional[0], error);
    }
    assay_store_close(store);
    return code;
}

const cli_command cli_explain = {.name = "explain",
                                 .operands = "CHECK",
                                 .min_operands = 1,
                                 .max_operands = 1,
                                 .summary = "print the contract row, the case and the finding behind a check",
                                 .options = options,
                                 .run = run};
