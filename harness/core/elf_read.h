/* elf_read.h - the little of ELF that reading machine code for CUDA needs: little-endian, 64 bits, nothing
 * believed before it was checked. */
#ifndef ASSAY_ELF_READ_H
#define ASSAY_ELF_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline uint16_t assay_le16(const uint8_t *p) {
    return (uint16_t)(p[0] | p[1] << 8);
}
static inline uint32_t assay_le32(const uint8_t *p) {
    return (uint32_t)assay_le16(p) | (uint32_t)assay_le16(p + 2) << 16;
}
static inline uint64_t assay_le64(const uint8_t *p) {
    return (uint64_t)assay_le32(p) | (uint64_t)assay_le32(p + 4) << 32;
}

typedef struct assay_elf_section {
    const char *name; /* inside the file, ends with NUL */
    uint32_t type;
    uint64_t flags;
    const uint8_t *bytes; /* NULL for a section without content */
    size_t n;
} assay_elf_section;

/* True for the header of a 64-bit ELF file of machine 190 (CUDA); n = bytes that may be read. */
bool assay_elf_is_cubin(const uint8_t *at, size_t n);
/* The compute capability of a cubin's header: 90 for sm_90. */
unsigned assay_elf_sm(const uint8_t *at);
/* Bytes up to the end of the last header table or section; 0 when that is beyond n or the tables do not fit.
 */
size_t assay_elf_extent(const uint8_t *at, size_t n);
/* Section `index`; false when there is none or it lies outside the file. */
bool assay_elf_section_at(const uint8_t *at, size_t n, size_t index, assay_elf_section *section);
size_t assay_elf_section_count(const uint8_t *at, size_t n);

#endif
