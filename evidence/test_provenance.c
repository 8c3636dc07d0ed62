#include "build_info.h"
#include "provenance.h"
#include "provenance_git.h"
#include "test_common.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(provenance, .init = scratch_enter, .fini = scratch_leave, .timeout = 60);

static void shell(const char *script) {
    char command[2048];
    (void)snprintf(command, sizeof command,
                   "cd '%s' && export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b "
                   "GIT_COMMITTER_NAME=a "
                   "GIT_COMMITTER_EMAIL=a@b && { %s; } >/dev/null 2>&1",
                   scratch(""), script);
    cr_assert_eq(system(command), 0, "%s", script);
}

static const char *get(const char *path, const char *source, const char *key) {
    static char value[4096];
    assay_provenance *p = NULL;
    cr_assert_eq(assay_provenance_collect(path, source, &p, NULL), ASSAY_CODE_OK);
    (void)snprintf(value, sizeof value, "%s", assay_provenance_get(p, key));
    assay_provenance_free(p);
    return value;
}

#define REPO                                                                                                 \
    "mkdir -p r/build && cd r && git init -q . && echo /build/ >.gitignore && echo x >a && git add . && "    \
    "git commit -qm m && echo y >build/lib.so"

Test(provenance, every_key_is_there_and_sorted) {
    static const char *const keys[] = {"assay.version",
                                       "assay.commit",
                                       "assay.dirty",
                                       "assay.source_sha256",
                                       "assay.compiler",
                                       "assay.flags",
                                       "candidate.commit",
                                       "candidate.dirty",
                                       "candidate.source",
                                       "cpu.model",
                                       "cpu.features",
                                       "cpu.count",
                                       "os.kernel",
                                       "os.name",
                                       "libc.version",
                                       "load.average",
                                       "mxcsr",
                                       "env.CUDA_X",
                                       "env.LD_PRELOAD",
                                       "time"};
    assay_provenance *p = NULL;
    size_t count = 0;
    setenv("CUDA_X", "a b", 1);
    setenv("LD_PRELOAD", "", 1);
    setenv("UNRELATED_SECRET", "s", 1);
    cr_assert_eq(assay_provenance_collect("/nonexistent", NULL, &p, NULL), ASSAY_CODE_OK);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        cr_expect_not_null(assay_provenance_get(p, keys[i]), "%s", keys[i]);
    }
    cr_expect_null(assay_provenance_get(p, "env.UNRELATED_SECRET"));
    cr_expect_str_eq(assay_provenance_get(p, "candidate.commit"), "unknown");
    assay_provenance_set(p, "gpu.name", "g");
    assay_provenance_set(p, "gpu.name", "h");
    assay_provenance_set(p, "zzz", NULL);
    cr_expect_str_eq(assay_provenance_get(p, "gpu.name"), "h");
    cr_expect_str_eq(assay_provenance_get(p, "zzz"), "unknown");
    const assay_pair *pairs = assay_provenance_pairs(p, &count);
    for (size_t i = 1; i < count; i++) {
        cr_expect_lt(strcmp(pairs[i - 1].key, pairs[i].key), 0);
    }
    assay_provenance_free(p);
}

Test(provenance, ignored_build_folder_of_a_clean_repository_is_clean) {
    char commit[80], path[512];
    shell(REPO "; git rev-parse HEAD >../head; ln -s r/build/lib.so ../link.so");
    (void)snprintf(path, sizeof path, "%s", scratch("r/build/lib.so"));
    FILE *f = fopen(scratch("head"), "r");
    cr_assert_not_null(fgets(commit, sizeof commit, f));
    (void)fclose(f);
    commit[strcspn(commit, "\n")] = '\0';
    cr_expect_str_eq(get(path, NULL, "candidate.dirty"), "no");
    cr_expect_str_eq(get(path, NULL, "candidate.commit"), commit);
    cr_expect_not_null(strstr(get(path, NULL, "candidate.source"), "/r"));
    cr_expect_str_eq(get(scratch("link.so"), NULL, "candidate.commit"), commit);
    cr_expect_str_eq(get(scratch("head"), NULL, "candidate.dirty"), "unknown");
    cr_expect_str_eq(get(scratch("head"), scratch("r"), "candidate.dirty"), "no");
    /* A caller's hook environment must not redirect the question. */
    setenv("GIT_DIR", "/nonexistent", 1);
    cr_expect_str_eq(get(path, NULL, "candidate.dirty"), "no");
}

static const char *const dirtying[] = {
    "cd r && echo new >untracked",
    "cd r && git config status.showUntrackedFiles no && echo new >untracked",
    "cd r && echo z >a",
    "cd r && echo z >a && git add a",
    "cd r && rm a",
    "cd r && git update-index --assume-unchanged a && echo z >a",
    "cd r && git update-index --skip-worktree a && echo z >a",
};

Test(provenance, anything_not_committed_is_dirty) {
    for (size_t i = 0; i < sizeof dirtying / sizeof dirtying[0]; i++) {
        shell("rm -rf r; " REPO);
        shell(dirtying[i]);
        cr_expect_str_eq(get(scratch("r/build/lib.so"), NULL, "candidate.dirty"), "yes", "%s", dirtying[i]);
    }
    shell("rm -rf r; mkdir r; cd r; git init -q .; echo x >lib.so");
    cr_expect_str_eq(get(scratch("r/lib.so"), NULL, "candidate.dirty"), "yes");
    cr_expect_str_eq(get(scratch("r/lib.so"), NULL, "candidate.commit"), "unknown");
}

Test(provenance, hooks_and_monitors_of_the_candidates_repository_do_not_run) {
    shell(REPO "; printf '#!/bin/sh\\ntouch %s/../ran\\n' \"$PWD\" >../hook; chmod +x ../hook; git config "
               "core.fsmonitor \"$PWD/../hook\"; "
               "cp ../hook .git/hooks/post-index-change");
    cr_expect_str_eq(get(scratch("r/build/lib.so"), NULL, "candidate.dirty"), "no");
    cr_expect_neq(access(scratch("ran"), F_OK), 0, "code of the candidate's repository was executed");
}

Test(provenance, missing_git_and_a_hanging_git_are_unknown) {
    assay_git_state state;
    assay_git_inspect("/nonexistent/git", ".", 500, &state);
    cr_expect_str_eq(state.commit, "unknown");
    cr_expect_str_eq(state.dirty, "unknown");
    cr_expect_str_eq(state.root, "unknown");
    shell("printf '#!/bin/sh\\nsleep 1000 & sleep 1000\\n' >git; chmod +x git");
    assay_git_inspect(scratch("git"), ".", 500, &state);
    cr_expect_str_eq(state.dirty, "unknown");
}

Test(provenance, a_candidate_of_our_own_build_takes_our_tree) {
    char self[4096];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    cr_assert_gt(n, 0);
    self[n] = '\0';
    char commit[80];
    assay_git_state state;
    assay_git_inspect(NULL, ASSAY_BUILD_SOURCE_DIR, 30000, &state);
    (void)snprintf(commit, sizeof commit, "%s", state.commit);
    cr_expect_str_eq(get(self, NULL, "candidate.commit"), commit);
}
