/* test_gallery.c - writes reports for a look by eye. Not a test.
 *   test_gallery DIRECTORY            the synthetic evidence, one folder a run
 *   test_gallery DIRECTORY DATABASE   the runs of a real database */
#include "report.h"
#include "test_fixture.h"

#include <stdio.h>
#include <unistd.h>

static int write_run(sqlite3 *db, int run, const char *directory, const char *name) {
    char path[1024];
    assay_error error = {0};
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    if (assay_report_directory(db, run, path, &error) != ASSAY_CODE_OK) {
        (void)fprintf(stderr, "%s: %s\n", name, error.text);
        return 1;
    }
    return 0;
}

int main(int argc, char **argv) {
    static const char *const names[] = {"certified", "refused", "prove", "selftest", "hostile", "unfinished"};
    char path[1024];
    int bad = 0;
    sqlite3 *db = NULL;
    if (argc < 2 || argc > 3) {
        (void)fprintf(stderr, "usage: %s DIRECTORY [DATABASE]\n", argv[0]);
        return 2;
    }
    if (argc == 3) {
        if (sqlite3_open_v2(argv[2], &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK) {
            return 2;
        }
        const int runs = (int)fixture_int(db, "SELECT coalesce(max(id), 0) FROM run");
        for (int run = 1; run <= runs; run++) {
            (void)snprintf(path, sizeof path, "run-%d", run);
            bad |= write_run(db, run, argv[1], path);
        }
    } else {
        (void)snprintf(path, sizeof path, "%s/fixture.db", argv[1]);
        (void)unlink(path);
        db = fixture_open(path);
        for (int run = 1; run <= 6; run++) {
            bad |= write_run(db, run, argv[1], names[run - 1]);
        }
    }
    (void)sqlite3_close(db);
    return bad;
}
