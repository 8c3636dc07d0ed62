/* space_place.cu - where the candidate finds its tensors. Ordinarily in the judge's arena itself. A segment
 * whose data touches its first or last byte is moved to addresses between two granules without memory, so
 * that one byte too far is an illegal access, as on the host. A call with `apart` gives every tensor an
 * allocation of exactly its bytes: what a memory checker needs. */
#include "space.cuh"

#include <cstring>

#define MOST_GUARDED ((size_t)256 << 20) /* larger segments stay in the arena: copies would take too long */
#define DRIVER       12000               /* the version of the driver's functions that are asked for */

/* ---- addresses between two granules without memory ---- */

template <typename F> static bool find(const char *name, F **function) {
    void *address = nullptr;
    cudaDriverEntryPointQueryResult result;
    if (cudaGetDriverEntryPointByVersion(name, &address, DRIVER, cudaEnableDefault, &result) != cudaSuccess ||
        result != cudaDriverEntryPointSuccess) {
        return false;
    }
    memcpy(function, &address, sizeof address);
    return true;
}

static CUmemAllocationProp property(const cuda_space *s) {
    CUmemAllocationProp p = {};
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    p.location.id = s->ordinal;
    return p;
}

void assay_space_guards_open(cuda_space *s) {
    space_driver *d = &s->driver;
    const CUmemAllocationProp p = property(s);
    if (!find("cuMemGetAllocationGranularity", &d->granularity) ||
        !find("cuMemAddressReserve", &d->reserve) || !find("cuMemAddressFree", &d->unreserve) ||
        !find("cuMemCreate", &d->create) || !find("cuMemRelease", &d->release) ||
        !find("cuMemMap", &d->map) || !find("cuMemUnmap", &d->unmap) || !find("cuMemSetAccess", &d->access) ||
        d->granularity(&s->granule, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM) != CUDA_SUCCESS) {
        (void)cudaGetLastError();
        s->granule = 0;
    }
}

static void region_free(cuda_space *s, space_region *r) {
    if (r->reserved != 0) {
        (void)s->driver.unmap(r->reserved + s->granule, r->bytes);
        (void)s->driver.release(r->memory);
        (void)s->driver.unreserve(r->reserved, r->bytes + 2 * s->granule);
        *r = {};
    }
}

/* A region of at least `bytes`; false when the device is short of memory or addresses. */
static bool region_make(cuda_space *s, space_region *r, size_t bytes) {
    const size_t want = (bytes + s->granule - 1) / s->granule * s->granule;
    const CUmemAllocationProp p = property(s);
    const CUmemAccessDesc access = {p.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    if (r->reserved != 0 && r->bytes >= want) {
        return true;
    }
    region_free(s, r);
    if (s->driver.create(&r->memory, want, &p, 0) != CUDA_SUCCESS) {
        return false;
    }
    if (s->driver.reserve(&r->reserved, want + 2 * s->granule, 0, 0, 0) != CUDA_SUCCESS) {
        (void)s->driver.release(r->memory);
        *r = {};
        return false;
    }
    r->bytes = want;
    if (s->driver.map(r->reserved + s->granule, want, 0, r->memory, 0) != CUDA_SUCCESS) {
        (void)s->driver.unreserve(r->reserved, want + 2 * s->granule);
        (void)s->driver.release(r->memory);
        *r = {};
        return false;
    }
    if (s->driver.access(r->reserved + s->granule, want, &access, 1) != CUDA_SUCCESS) {
        region_free(s, r);
        return false;
    }
    return true;
}

/* ---- places ---- */

static void places_free(cuda_space *s) {
    for (size_t i = 0; s->apart && i < s->place_count; i++) {
        (void)cudaFree(s->places[i].at);
    }
    s->place_count = 0;
    s->apart = false;
}

void assay_space_guards_close(cuda_space *s) {
    places_free(s);
    for (space_region &r : s->regions) {
        region_free(s, &r);
    }
}

void assay_space_span(const assay_wire_tensor *tensor, size_t *first, size_t *bytes) {
    const int64_t element = (int64_t)assay_dtype_bytes(tensor->dtype);
    int64_t low = 0;
    int64_t high = 1;
    for (int d = 0; d < tensor->ndim; d++) {
        const int64_t reach = (tensor->shape[d] - 1) * tensor->strides[d];
        if (tensor->shape[d] <= 0) {
            low = high = 0;
            break;
        }
        low += reach < 0 ? reach : 0;
        high += reach > 0 ? reach : 0;
    }
    *first = (size_t)(tensor->offset + low * element);
    *bytes = (size_t)((high - low) * element);
}

char *assay_space_address(const cuda_space *s, size_t offset) {
    for (size_t i = 0; i < s->place_count; i++) {
        const space_place *p = &s->places[i];
        if (offset >= p->offset && offset - p->offset <= p->bytes) {
            return p->at + (offset - p->offset);
        }
    }
    return s->arena + offset;
}

/* An allocation for each tensor that has elements. */
static assay_code place_apart(cuda_space *s, const assay_wire_tensor *tensors, size_t n, assay_error *error) {
    for (size_t i = 0; i < n; i++) {
        space_place *p = &s->places[s->place_count];
        void *at = nullptr;
        if (tensors[i].null) {
            continue;
        }
        assay_space_span(&tensors[i], &p->offset, &p->bytes);
        if (p->bytes > 0) {
            CUDA_TRY(cudaMalloc(&at, p->bytes), "an allocation for one tensor");
            p->at = (char *)at;
            s->place_count++;
        }
    }
    return ASSAY_CODE_OK;
}

/* A place between guards for each segment whose data touches its edge. */
static void place_guarded(cuda_space *s, const assay_wire_tensor *tensors, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const assay_wire_tensor *t = &tensors[i];
        const size_t from = (size_t)t->segment_offset;
        const size_t bytes = (size_t)t->segment_bytes;
        size_t first = 0;
        size_t span = 0;
        if (t->null || bytes > MOST_GUARDED) {
            continue;
        }
        assay_space_span(t, &first, &span);
        const bool at_end = span > 0 && first + span == from + bytes;
        bool known = span == 0 || (!at_end && first != from);
        for (size_t j = 0; !known && j < s->place_count; j++) {
            known = s->places[j].offset == from;
        }
        space_region *r = &s->regions[s->place_count];
        if (known || !region_make(s, r, bytes)) {
            continue;
        }
        char *start = (char *)(r->reserved + s->granule);
        s->places[s->place_count++] = {from, bytes, at_end ? start + (r->bytes - bytes) : start};
    }
}

static assay_code copy_places(cuda_space *s, bool back, assay_error *error) {
    for (size_t i = 0; i < s->place_count; i++) {
        const space_place *p = &s->places[i];
        char *in_arena = s->arena + p->offset;
        CUDA_TRY(cudaMemcpyAsync(back ? in_arena : p->at, back ? p->at : in_arena, p->bytes,
                                 cudaMemcpyDeviceToDevice, s->own),
                 "copying a tensor");
    }
    return s->place_count == 0 ? ASSAY_CODE_OK
                               : assay_cuda_check(cudaStreamSynchronize(s->own), "copying a tensor", error);
}

assay_code assay_space_place(cuda_space *s, const assay_message *call, assay_error *error) {
    places_free(s);
    if (call->apart) {
        s->apart = true;
        CODE_TRY(place_apart(s, call->inputs, call->input_count, error));
        CODE_TRY(place_apart(s, call->outputs, call->output_count, error));
    } else if (s->granule > 0) {
        place_guarded(s, call->inputs, call->input_count);
        place_guarded(s, call->outputs, call->output_count);
    }
    return copy_places(s, false, error);
}

assay_code assay_space_return(cuda_space *s, assay_error *error) {
    return copy_places(s, true, error);
}
