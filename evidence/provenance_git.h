/* provenance_git.h - asks git about the tree around a file. Internal to evidence/. */
#ifndef ASSAY_PROVENANCE_GIT_H
#define ASSAY_PROVENANCE_GIT_H

#define ASSAY_UNKNOWN "unknown"

typedef struct assay_git_state {
    char root[4096];   /* top folder of the working tree */
    char commit[80];   /* hex digits of HEAD */
    const char *dirty; /* "yes", "no" */
} assay_git_state;     /* "unknown" where git cannot tell */

/* State of the repository around `directory`. Untracked files that are not ignored count as dirty, and so do
 * files that the index was told not to look at (assume-unchanged, skip-worktree) while they exist. Never
 * fails: missing git, no repository, another owner's repository, a question that takes longer than timeout_ms
 * give "unknown". Runs no shell and no hook. `git` is the program, NULL = "git" on PATH. */
void assay_git_inspect(const char *git, const char *directory, unsigned timeout_ms, assay_git_state *state);

#endif
