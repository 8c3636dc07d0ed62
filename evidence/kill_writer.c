/* kill_writer.c DB: records one run of 2000 checks, printing "BEGIN n" before and "END n" after check n is
 * committed. The kill -9 test ends it at a random moment; whatever it printed must be in the database.
 * Continues an unfinished run of an earlier life. */
#include "store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHECKS = 2000 };

static int64_t begin_run(assay_store *store, assay_error *error) {
    static const assay_promise_record promise = {"parity", "parity", "parity", "p", true};
    int64_t id = 0;
    char uuid[33];
    assay_plan_record *plan = calloc(CHECKS, sizeof *plan);
    char(*names)[16] = calloc(CHECKS, sizeof *names);
    for (size_t i = 0; plan != NULL && names != NULL && i < CHECKS; i++) {
        (void)snprintf(names[i], sizeof names[i], "parity/%zu", i);
        plan[i] = (assay_plan_record){"parity", names[i], "parity", "{}", "", true, ASSAY_STRENGTH_SAMPLED};
    }
    const assay_run_record run = {.kind = "certify",
                                  .operator_name = "op",
                                  .implementation = "i",
                                  .baseline = "",
                                  .device = "cpu",
                                  .tier = "quick",
                                  .command = "kill",
                                  .contract_sha256 =
                                      "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                                  .contract_text = "test",
                                  .promises = &promise,
                                  .promise_count = 1,
                                  .plan = plan,
                                  .plan_count = CHECKS};
    const assay_code code = assay_store_run_begin(store, &run, &id, uuid, error);
    free(plan);
    free(names);
    return code == ASSAY_CODE_OK ? id : 0;
}

static int64_t next_seq(assay_store *store) {
    sqlite3_stmt *row = NULL;
    int64_t next = 1;
    if (sqlite3_prepare_v2(assay_store_handle(store), "SELECT coalesce(max(seq),0)+1 FROM check_outcome", -1,
                           &row, NULL) == SQLITE_OK &&
        sqlite3_step(row) == SQLITE_ROW) {
        next = sqlite3_column_int64(row, 0);
    }
    (void)sqlite3_finalize(row);
    return next;
}

int main(int argc, char **argv) {
    assay_store *store = NULL;
    assay_error error = {ASSAY_CODE_OK, ""};
    int64_t id = 0;
    if (argc != 2 || assay_store_open(argv[1], ASSAY_STORE_WRITE, &store, &error) != ASSAY_CODE_OK) {
        (void)fprintf(stderr, "%s\n", error.text);
        return 2;
    }
    if (assay_store_run_find(store, "latest", &id, &error) != ASSAY_CODE_OK) {
        id = begin_run(store, &error);
    }
    const assay_metric_record metric = {"m", "", 1.0};
    const assay_check_record record = {
        .outcome = ASSAY_OUTCOME_PASS, .reason = "", .elements = 1, .metrics = &metric, .metric_count = 1};
    for (int64_t seq = next_seq(store); id != 0 && seq <= CHECKS; seq++) {
        char line[64];
        if (assay_store_check_begin(store, id, seq, &error) != ASSAY_CODE_OK) {
            break;
        }
        int n = snprintf(line, sizeof line, "BEGIN %lld\n", (long long)seq);
        if (write(1, line, (size_t)n) != n ||
            assay_store_check_end(store, id, seq, &record, &error) != ASSAY_CODE_OK) {
            break;
        }
        n = snprintf(line, sizeof line, "END %lld\n", (long long)seq);
        if (write(1, line, (size_t)n) != n) {
            break;
        }
    }
    (void)fprintf(stderr, "%s\n", error.text);
    assay_store_close(store);
    return 1;
}
