/* plugin.cu - the table of the CUDA plugin: opening a device, arenas, copies. The kernels are in other files.
 */
#include "cuda_private.h"

#include <cstdio>
#include <cstring>

#define STAGING_BYTES ((size_t)8 << 20)

assay_code assay_cuda_check(cudaError_t status, const char *what, assay_error *error) {
    if (status == cudaSuccess) {
        return ASSAY_CODE_OK;
    }
    return assay_fail(error,
                      status == cudaErrorMemoryAllocation ? ASSAY_CODE_INCOMPLETE : ASSAY_CODE_INTERNAL,
                      "CUDA, %s: %s", what, cudaGetErrorString(status));
}

/* At least `bytes` in a room of device memory. */
static assay_code room_device(assay_cuda_room *room, size_t bytes, const char *what, assay_error *error) {
    if (bytes > room->bytes) {
        (void)cudaFree(room->at);
        room->at = nullptr;
        room->bytes = 0;
        CUDA_TRY(cudaMalloc(&room->at, bytes), what);
        room->bytes = bytes;
    }
    return ASSAY_CODE_OK;
}

assay_code assay_cuda_scratch(assay_device *d, size_t bytes, assay_error *error) {
    return room_device(&d->scratch, bytes, "scratch memory", error);
}

assay_code assay_cuda_results(assay_device *d, size_t bytes, assay_error *error) {
    if (bytes > d->results.bytes) {
        (void)cudaFreeHost(d->results.at);
        d->results.at = nullptr;
        d->results.bytes = 0;
        CUDA_TRY(cudaHostAlloc(&d->results.at, bytes, cudaHostAllocDefault), "pinned memory");
        d->results.bytes = bytes;
    }
    return ASSAY_CODE_OK;
}

assay_code assay_cuda_constants(assay_device *d, const void *data, size_t bytes, assay_error *error) {
    if (d->constants_held.size() == bytes && memcmp(d->constants_held.data(), data, bytes) == 0) {
        return ASSAY_CODE_OK;
    }
    d->constants_held.clear();
    CODE_TRY(room_device(&d->constants, bytes, "constants", error));
    CUDA_TRY(cudaMemcpyAsync(d->constants.at, data, bytes, cudaMemcpyHostToDevice, d->stream), "constants");
    CUDA_TRY(cudaStreamSynchronize(d->stream), "constants");
    d->constants_held.assign((const char *)data, (const char *)data + bytes);
    return ASSAY_CODE_OK;
}

assay_code assay_cuda_begin(assay_device *d, assay_error *error) {
    CUDA_TRY(cudaSetDevice(d->ordinal), "device");
    return assay_cuda_check(cudaEventRecord(d->begin, d->stream), "event", error);
}

assay_code assay_cuda_end(assay_device *d, const char *what, assay_error *error) {
    float ms = 0.0f;
    CUDA_TRY(cudaGetLastError(), what);
    CUDA_TRY(cudaEventRecord(d->end, d->stream), what);
    CUDA_TRY(cudaStreamSynchronize(d->stream), what);
    CUDA_TRY(cudaEventElapsedTime(&ms, d->begin, d->end), what);
    d->spent_ns += (uint64_t)((double)ms * 1e6);
    return ASSAY_CODE_OK;
}

/* ---- the device ---- */

static void hash_uuid(const cudaUUID_t &uuid, char hex[65]) {
    uint8_t hash[ASSAY_HASH_BYTES];
    assay_sha256(uuid.bytes, sizeof uuid.bytes, hash);
    assay_hex(hash, sizeof hash, hex);
}

static assay_code describe(assay_device *d, assay_error *error) {
    cudaDeviceProp p;
    CUDA_TRY(cudaGetDeviceProperties(&p, d->ordinal), "properties");
    assay_device_info *i = &d->info;
    (void)snprintf(i->name, sizeof i->name, "%.127s", p.name);
    hash_uuid(p.uuid, i->uuid_sha256);
    i->ordinal = d->ordinal;
    i->sm = 10 * p.major + p.minor;
    i->multiprocessors = p.multiProcessorCount;
    i->memory_bytes = p.totalGlobalMem;
    i->l2_bytes = (uint64_t)p.l2CacheSize;
    CUDA_TRY(cudaDriverGetVersion(&i->driver_version), "driver version");
    return assay_cuda_check(cudaRuntimeGetVersion(&i->runtime_version), "runtime version", error);
}

static assay_code prepare(assay_device *d, assay_error *error) {
    CUDA_TRY(cudaSetDevice(d->ordinal), "device");
    CUDA_TRY(cudaStreamCreateWithFlags(&d->stream, cudaStreamNonBlocking), "stream");
    CUDA_TRY(cudaStreamCreateWithFlags(&d->copy_stream, cudaStreamNonBlocking), "stream");
    CUDA_TRY(cudaEventCreate(&d->begin), "event");
    CUDA_TRY(cudaEventCreate(&d->end), "event");
    for (int i = 0; i < 2; i++) {
        CUDA_TRY(cudaHostAlloc(&d->staging[i], STAGING_BYTES, cudaHostAllocDefault), "pinned memory");
        CUDA_TRY(cudaEventCreateWithFlags(&d->staged[i], cudaEventDisableTiming), "event");
    }
    return describe(d, error);
}

static void device_close(assay_device *d) {
    if (d == nullptr) {
        return;
    }
    (void)cudaSetDevice(d->ordinal);
    (void)cudaFree(d->scratch.at);
    (void)cudaFree(d->constants.at);
    (void)cudaFree(d->row_constants);
    (void)cudaFreeHost(d->results.at);
    for (int i = 0; i < 2; i++) {
        (void)cudaFreeHost(d->staging[i]);
        if (d->staged[i] != nullptr) {
            (void)cudaEventDestroy(d->staged[i]);
        }
    }
    if (d->begin != nullptr) {
        (void)cudaEventDestroy(d->begin);
    }
    if (d->end != nullptr) {
        (void)cudaEventDestroy(d->end);
    }
    if (d->stream != nullptr) {
        (void)cudaStreamDestroy(d->stream);
    }
    if (d->copy_stream != nullptr) {
        (void)cudaStreamDestroy(d->copy_stream);
    }
    delete d;
}

static assay_code device_open(int ordinal, assay_device **device, int *count, assay_error *error) {
    int n = 0;
    *device = nullptr;
    const cudaError_t status = cudaGetDeviceCount(&n);
    if (count != nullptr) {
        *count = status == cudaSuccess ? n : 0;
    }
    if (status == cudaErrorInsufficientDriver || status == cudaErrorNoDevice) {
        return assay_fail(error, ASSAY_CODE_INCOMPLETE, "no CUDA driver or no GPU on this machine (%s)",
                          cudaGetErrorString(status));
    }
    if (status != cudaSuccess) {
        return assay_fail(error, ASSAY_CODE_INCOMPLETE, "CUDA does not start: %s",
                          cudaGetErrorString(status));
    }
    if (ordinal >= n) {
        return assay_fail(error, ASSAY_CODE_INCOMPLETE, "no such GPU: this machine has %d", n);
    }
    assay_device *d = new assay_device();
    d->ordinal = ordinal;
    const assay_code code = prepare(d, error);
    if (code != ASSAY_CODE_OK) {
        device_close(d);
        return code;
    }
    *device = d;
    return ASSAY_CODE_OK;
}

static const assay_device_info *device_info(const assay_device *d) {
    return &d->info;
}

static uint64_t free_bytes(assay_device *d) {
    size_t free = 0;
    size_t all = 0;
    (void)cudaSetDevice(d->ordinal);
    return cudaMemGetInfo(&free, &all) == cudaSuccess ? free : 0;
}

static uint64_t spent_ns(const assay_device *d) {
    return d->spent_ns;
}

/* ---- arenas and copies ---- */

static assay_code arena_create(assay_device *d, size_t bytes, assay_device_arena *arena, assay_error *error) {
    cudaIpcMemHandle_t handle;
    void *address = nullptr;
    static_assert(sizeof handle == ASSAY_DEVICE_HANDLE_BYTES, "a handle has 64 bytes");
    CUDA_TRY(cudaSetDevice(d->ordinal), "device");
    CUDA_TRY(cudaMalloc(&address, bytes), "device arena");
    const assay_code code =
        assay_cuda_check(cudaIpcGetMemHandle(&handle, address), "sharing the device arena", error);
    if (code != ASSAY_CODE_OK) {
        (void)cudaFree(address);
        return code;
    }
    arena->address = address;
    arena->bytes = bytes;
    memcpy(arena->handle, &handle, sizeof handle);
    return ASSAY_CODE_OK;
}

static void arena_destroy(assay_device *d, assay_device_arena *arena) {
    (void)cudaSetDevice(d->ordinal);
    (void)cudaFree(arena->address);
    arena->address = nullptr;
}

/* Through pinned memory, two buffers in turn, so that one is filled while the other travels. */
static assay_code upload(assay_device *d, void *to, const void *from, size_t bytes, assay_error *error) {
    const std::lock_guard<std::mutex> hold(d->copies);
    CUDA_TRY(cudaSetDevice(d->ordinal), "device");
    for (size_t done = 0, turn = 0; done < bytes; turn ^= 1) {
        const size_t n = bytes - done < STAGING_BYTES ? bytes - done : STAGING_BYTES;
        CUDA_TRY(cudaEventSynchronize(d->staged[turn]), "upload");
        memcpy(d->staging[turn], (const char *)from + done, n);
        CUDA_TRY(
            cudaMemcpyAsync((char *)to + done, d->staging[turn], n, cudaMemcpyHostToDevice, d->copy_stream),
            "upload");
        CUDA_TRY(cudaEventRecord(d->staged[turn], d->copy_stream), "upload");
        done += n;
    }
    return assay_cuda_check(cudaStreamSynchronize(d->copy_stream), "upload", error);
}

static assay_code download(assay_device *d, void *to, const void *from, size_t bytes, assay_error *error) {
    const std::lock_guard<std::mutex> hold(d->copies);
    size_t waiting[2] = {0, 0};
    size_t place[2] = {0, 0};
    CUDA_TRY(cudaSetDevice(d->ordinal), "device");
    for (size_t done = 0, turn = 0; done < bytes || waiting[0] > 0 || waiting[1] > 0; turn ^= 1) {
        if (waiting[turn] > 0) {
            CUDA_TRY(cudaEventSynchronize(d->staged[turn]), "download");
            memcpy((char *)to + place[turn], d->staging[turn], waiting[turn]);
            waiting[turn] = 0;
        }
        if (done < bytes) {
            const size_t n = bytes - done < STAGING_BYTES ? bytes - done : STAGING_BYTES;
            CUDA_TRY(cudaMemcpyAsync(d->staging[turn], (const char *)from + done, n, cudaMemcpyDeviceToHost,
                                     d->copy_stream),
                     "download");
            CUDA_TRY(cudaEventRecord(d->staged[turn], d->copy_stream), "download");
            waiting[turn] = n;
            place[turn] = done;
            done += n;
        }
    }
    return ASSAY_CODE_OK;
}

static const assay_device_plugin plugin = {ASSAY_DEVICE_PLUGIN_VERSION,
                                           sizeof(assay_device_plugin),
                                           "cuda",
                                           device_open,
                                           device_close,
                                           device_info,
                                           free_bytes,
                                           arena_create,
                                           arena_destroy,
                                           upload,
                                           download,
                                           assay_cuda_fill,
                                           assay_cuda_damage,
                                           assay_cuda_iota,
                                           assay_cuda_iota_intact,
                                           assay_cuda_mark,
                                           assay_cuda_marks_gone,
                                           assay_cuda_judge,
                                           assay_cuda_has_golden,
                                           spent_ns,
                                           assay_cuda_floor,
                                           assay_cuda_roof,
                                           assay_cuda_space_open};

extern "C" __attribute__((visibility("default"))) const assay_device_plugin *
assay_device_plugin_table(void) __asm__(ASSAY_DEVICE_PLUGIN_SYMBOL);
extern "C" const assay_device_plugin *assay_device_plugin_table(void) {
    return &plugin;
}
