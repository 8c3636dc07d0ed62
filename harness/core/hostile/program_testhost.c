/* program_testhost.c - the worker host alone, for tests of the core that run without the command line:
 * `testhost worker --adapter FILE`, like `assay worker --adapter FILE`. */
#include "worker.h"

#include <string.h>

int main(int argc, char **argv) {
    if (argc != 4 || strcmp(argv[1], "worker") != 0 || strcmp(argv[2], "--adapter") != 0) {
        (void)fprintf(stderr, "usage: testhost worker --adapter FILE\n");
        return 2;
    }
    return assay_worker_main(argv[3]);
}
