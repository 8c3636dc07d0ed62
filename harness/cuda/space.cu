/* space.cu - opens the judge's device arena in the worker host through CUDA IPC. The context is made when the
 * space is opened, so that a worker without a GPU says so before it says hello. */
#include "space.cuh"

#include <cstring>
#include <new>

static int nibble(char c) {
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

/* The arena of the call; the one of an earlier call is closed when it is another. */
static assay_code open_arena(cuda_space *s, const assay_message *call, assay_error *error) {
    cudaIpcMemHandle_t handle;
    uint8_t *bytes = (uint8_t *)&handle;
    void *address = nullptr;
    for (size_t i = 0; i < sizeof handle; i++) {
        bytes[i] = (uint8_t)(nibble(call->arena[2 * i]) << 4 | nibble(call->arena[2 * i + 1]));
    }
    if (s->opened && memcmp(s->handle, bytes, sizeof handle) == 0) {
        return ASSAY_CODE_OK;
    }
    if (s->opened) {
        (void)cudaIpcCloseMemHandle(s->arena);
        s->opened = false;
    }
    CUDA_TRY(cudaIpcOpenMemHandle(&address, handle, cudaIpcMemLazyEnablePeerAccess),
             "opening the judge's arena");
    memcpy(s->handle, bytes, sizeof handle);
    s->arena = (char *)address;
    s->arena_bytes = (size_t)call->arena_size;
    s->opened = true;
    return ASSAY_CODE_OK;
}

static bool inside(const cuda_space *s, const assay_wire_tensor *tensors, size_t n, assay_error *error) {
    for (size_t i = 0; i < n; i++) {
        const size_t at = (size_t)tensors[i].segment_offset;
        const size_t bytes = (size_t)tensors[i].segment_bytes;
        if (!tensors[i].null && (at > s->arena_bytes || bytes > s->arena_bytes - at)) {
            (void)assay_fail(error, ASSAY_CODE_USAGE, "segment [%zu,%zu] is outside the device arena", at,
                             bytes);
            return false;
        }
    }
    return true;
}

static bool cuda_bind(assay_host_space *space, const assay_message *call, assay_error *error) {
    cuda_space *s = (cuda_space *)space;
    if (call->arena == nullptr) {
        (void)assay_fail(error, ASSAY_CODE_USAGE, "the call names no device arena");
        return false;
    }
    assay_code code = assay_cuda_check(cudaSetDevice(s->ordinal), "device", error);
    code = code == ASSAY_CODE_OK ? open_arena(s, call, error) : code;
    if (code != ASSAY_CODE_OK) {
        error->code = ASSAY_CODE_INTERNAL; /* a fresh process may do better */
        return false;
    }
    return inside(s, call->inputs, call->input_count, error) &&
           inside(s, call->outputs, call->output_count, error) &&
           assay_space_place(s, call, error) == ASSAY_CODE_OK;
}

static void *cuda_address(assay_host_space *space, const assay_wire_tensor *tensor) {
    return assay_space_address((cuda_space *)space, (size_t)tensor->offset);
}

static void cuda_close(assay_host_space *space) {
    cuda_space *s = (cuda_space *)space;
    assay_space_guards_close(s);
    (void)cudaFree(s->kept.at);
    if (s->opened) {
        (void)cudaIpcCloseMemHandle(s->arena);
    }
    if (s->begin != nullptr) {
        (void)cudaEventDestroy(s->begin);
    }
    if (s->end != nullptr) {
        (void)cudaEventDestroy(s->end);
    }
    if (s->own != nullptr) {
        (void)cudaStreamDestroy(s->own);
    }
    delete s;
}

static assay_code start(cuda_space *s, assay_error *error) {
    CUDA_TRY(cudaSetDevice(s->ordinal), "device");
    CUDA_TRY(cudaStreamCreateWithFlags(&s->own, cudaStreamNonBlocking), "stream");
    CUDA_TRY(cudaEventCreate(&s->begin), "event");
    CUDA_TRY(cudaEventCreate(&s->end), "event");
    assay_space_guards_open(s);
    return ASSAY_CODE_OK;
}

extern "C" assay_host_space *assay_cuda_space_open(int ordinal, size_t page_bytes, assay_error *error) {
    (void)page_bytes;
    cuda_space *s = new (std::nothrow) cuda_space();
    if (s == nullptr) {
        (void)assay_fail(error, ASSAY_CODE_INTERNAL, "out of memory");
        return nullptr;
    }
    s->space = {{kDLCUDA, ordinal}, cuda_bind, cuda_address, assay_space_run, cuda_close};
    s->ordinal = ordinal;
    if (start(s, error) != ASSAY_CODE_OK) {
        cuda_close(&s->space);
        return nullptr;
    }
    return &s->space;
}
