/* test_gallery.c - writes the synthetic evidence and its reports for a look by eye: test_gallery DIRECTORY. Not a test. */
#include "report.h"
#include "test_fixture.h"

#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
    static const char *const names[] = {"certified", "refused", "prove", "selftest", "hostile", "unfinished"};
    char path[1024];
    if (argc != 2) {
        (void)fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
        return 2;
    }
    (void)snprintf(path, sizeof path, "%s/fixture.db", argv[1]);
    (void)unlink(path);
    sqlite3 *db = fixture_open(path);
    for (int run = 1; run <= 6; run++) {
        assay_error error = {0};
        (void)snprintf(path, sizeof path, "%s/%s", argv[1], names[run - 1]);
        if (assay_report_directory(db, run, path, &error) != ASSAY_CODE_OK) {
            (void)fprintf(stderr, "%s: %s\n", names[run - 1], error.text);
            return 1;
        }
    }
    (void)sqlite3_close(db);
    return 0;
}
