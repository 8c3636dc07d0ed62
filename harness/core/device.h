/* device.h - a GPU as the judge and the worker host use it. The engine itself contains no device code: it
 * opens a plugin (assay_cuda.so) that exports one function, `assay_device_plugin`, returning the table below.
 *
 * Two users, one library. The judge opens a device: it owns arenas of device memory, fills and poisons them,
 * and judges large outputs there with kernels. The worker host opens a memory space (host_space.h) over an
 * arena whose handle came with the call, and runs the candidate on streams of its own making.
 *
 * A worker that wants CUDA memory has two arenas of the same layout: the host arena (tensor.h) and a device
 * arena with the same offsets. An ordinary call is mirrored: the judge uploads the call's segments, zones and
 * poison included, and downloads them after the answer, so that suites see host memory only. A resident call
 * (assay_call_spec.resident) moves nothing: its tensors live on the device, and kernels judge them there. */
#ifndef ASSAY_DEVICE_H
#define ASSAY_DEVICE_H

#include "compare.h"
#include "digest.h"
#include "error.h"
#include "host_space.h"

#include "assay/adapter.h"

#define ASSAY_DEVICE_PLUGIN_VERSION 1u
#define ASSAY_DEVICE_PLUGIN_SYMBOL  "assay_device_plugin"
#define ASSAY_DEVICE_PLUGIN_FILE    "assay_cuda.so"

typedef struct assay_device assay_device; /* the plugin's; all functions on one device by one thread at a
                                             time, except upload and download, which any thread may call */

typedef struct assay_device_info {
    char name[128];
    char uuid_sha256[65]; /* of the UUID's 16 bytes, hex: tells machines apart without naming them */
    int ordinal, sm;      /* compute capability * 10, e.g. 90 */
    int multiprocessors;
    int driver_version, runtime_version; /* as CUDA counts: 13000 */
    uint64_t memory_bytes, l2_bytes;
} assay_device_info;

/* An arena of device memory. `address` is the judge's device address of offset 0. */
typedef struct assay_device_arena {
    void *address;
    size_t bytes;
    uint8_t handle[ASSAY_DEVICE_HANDLE_BYTES];
} assay_device_arena;

/* What to judge of `rows` rows of `channels` FP32 words at `got`, in one pass where the plugin can. The input
 * of row r is the FP32 value with bit pattern first_bits + r. Results are added to *tiles, *parity,
 * *accuracy, each NULL when not wanted. */
typedef struct assay_device_judgment {
    const void *got;   /* device address, 256-byte aligned */
    const void *other; /* the baseline's words; for parity */
    uint64_t rows;
    size_t channels;
    uint32_t first_bits;
    uint64_t base;            /* global index of element 0, as in compare.h */
    assay_tile *tiles;        /* of rows 0.., ASSAY_TILE_ROWS each; `rows` starts at a tile boundary */
    assay_parity *parity;     /* host struct; histogram honoured when not NULL */
    assay_accuracy *accuracy; /* host struct; tolerance, settle and histogram honoured */
    const char *op;           /* for accuracy: whose FP64 golden */
    const assay_attr *attrs;  /* of the case */
    size_t attr_count;
} assay_device_judgment;

typedef enum assay_device_roof { ASSAY_ROOF_MEMSET, ASSAY_ROOF_COPY, ASSAY_ROOF_READ } assay_device_roof;

typedef struct assay_device_plugin {
    uint32_t version;    /* ASSAY_DEVICE_PLUGIN_VERSION */
    size_t struct_bytes; /* sizeof(assay_device_plugin) */
    const char *name;    /* "cuda" */

    /* ---- the judge's device ---- */
    /* INCOMPLETE with one line when there is no driver or no such device; *count of devices may be NULL. */
    assay_code (*open)(int ordinal, assay_device **device, int *count, assay_error *error);
    void (*close)(assay_device *device);
    const assay_device_info *(*info)(const assay_device *device);
    uint64_t (*free_bytes)(assay_device *device);
    /* INCOMPLETE when memory is short. */
    assay_code (*arena_create)(assay_device *device, size_t bytes, assay_device_arena *arena,
                               assay_error *error);
    void (*arena_destroy)(assay_device *device, assay_device_arena *arena);
    /* Copies bytes between host memory and an arena; returns when done. Thread-safe. */
    assay_code (*upload)(assay_device *device, void *to, const void *from, size_t bytes, assay_error *error);
    assay_code (*download)(assay_device *device, void *to, const void *from, size_t bytes,
                           assay_error *error);

    /* ---- kernels of the judge; each returns when its result is there ---- */
    /* The byte at address + i gets byte (phase + i) mod 4 of the pattern. */
    assay_code (*fill)(assay_device *device, void *address, size_t bytes, uint32_t pattern, size_t phase,
                       assay_error *error);
    /* Bytes that no longer hold it; *first = offset of the first, undefined when *count is 0. */
    assay_code (*damage)(assay_device *device, const void *address, size_t bytes, uint32_t pattern,
                         size_t phase, uint64_t *count, uint64_t *first, assay_error *error);
    /* word[r] = first_bits + r, and whether it still is. */
    assay_code (*iota)(assay_device *device, void *address, uint64_t rows, uint32_t first_bits,
                       assay_error *error);
    assay_code (*iota_intact)(assay_device *device, const void *address, uint64_t rows, uint32_t first_bits,
                              bool *intact, assay_error *error);
    /* One word of every row gets `pattern`, its channel drawn from (key, row); whether none holds it any
     * more. channel = ((key * 0x9e3779b97f4a7c15 + row * 0xbf58476d1ce4e5b9) >> 33) % channels, modulo 2^64.
     */
    assay_code (*mark)(assay_device *device, void *address, uint64_t rows, size_t channels, uint64_t key,
                       uint32_t pattern, assay_error *error);
    assay_code (*marks_gone)(assay_device *device, const void *address, uint64_t rows, size_t channels,
                             uint64_t key, uint32_t pattern, bool *gone, assay_error *error);
    assay_code (*judge)(assay_device *device, const assay_device_judgment *what, assay_error *error);
    /* True when the plugin has the golden of this operator. */
    bool (*has_golden)(const char *op);
    /* Device nanoseconds spent in the kernels above since open, by events. */
    uint64_t (*spent_ns)(const assay_device *device);

    /* ---- floor and roofs ---- */
    /* Nanoseconds of one empty kernel: with `graph`, of a graph of `count` of them divided by count; without,
     * events around one. The median of several. */
    assay_code (*floor)(assay_device *device, bool graph, unsigned count, double *ns, assay_error *error);
    /* Nanoseconds (median of several) to move `bytes` at address: memset; copy of the first half to the
     * second; a reading sum. Contents are destroyed. */
    assay_code (*roof)(assay_device *device, assay_device_roof kind, void *address, size_t bytes, double *ns,
                       assay_error *error);

    /* ---- the worker host ---- */
    /* A memory space that serves calls with arena handles. Creates the context on `ordinal` lazily, at the
     * first bind or stream. NULL with a message on failure. */
    assay_host_space *(*space_open)(int ordinal, size_t page_bytes, assay_error *error);
} assay_device_plugin;

typedef const assay_device_plugin *(*assay_device_plugin_fn)(void);

/* Loads the plugin, once per process: beside the executable, or in lib/assay beside its folder. NULL with
 * INCOMPLETE and one line when there is none or it cannot be used. */
const assay_device_plugin *assay_device_plugin_load(assay_error *error);

/* "cuda" or "cuda:N" -> N; -1 when `text` is something else. */
int assay_device_ordinal(const char *text);

#endif
