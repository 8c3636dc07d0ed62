/* elf_read.c - sections of a cubin. */
#include "elf_read.h"

#include <elf.h>
#include <string.h>

#define MACHINE_CUDA  190u
#define CUBIN_ABI_NEW 8u /* EI_ABIVERSION from which the flags hold the capability in bits 8 to 15 */

bool assay_elf_is_cubin(const uint8_t *at, size_t n) {
    return n >= sizeof(Elf64_Ehdr) && memcmp(at, ELFMAG, SELFMAG) == 0 && at[EI_CLASS] == ELFCLASS64 &&
           at[EI_DATA] == ELFDATA2LSB && assay_le16(at + offsetof(Elf64_Ehdr, e_machine)) == MACHINE_CUDA;
}

unsigned assay_elf_sm(const uint8_t *at) {
    const uint32_t flags = assay_le32(at + offsetof(Elf64_Ehdr, e_flags));
    return at[EI_ABIVERSION] >= CUBIN_ABI_NEW ? flags >> 8 & 0xffu : flags & 0xffu;
}

size_t assay_elf_section_count(const uint8_t *at, size_t n) {
    const uint64_t start = assay_le64(at + offsetof(Elf64_Ehdr, e_shoff));
    const size_t count = assay_le16(at + offsetof(Elf64_Ehdr, e_shnum));
    const size_t size = assay_le16(at + offsetof(Elf64_Ehdr, e_shentsize));
    if (start > n || size != sizeof(Elf64_Shdr) || count > (n - (size_t)start) / size) {
        return 0;
    }
    if (count == 0 && start != 0 && n - (size_t)start >= size) { /* 65280 sections and more */
        const uint64_t many = assay_le64(at + (size_t)start + offsetof(Elf64_Shdr, sh_size));
        return many <= (n - (size_t)start) / size ? (size_t)many : 0;
    }
    return count;
}

static const uint8_t *header_of(const uint8_t *at, size_t index) {
    return at + (size_t)assay_le64(at + offsetof(Elf64_Ehdr, e_shoff)) + index * sizeof(Elf64_Shdr);
}

/* The content of section `index`; false when it lies outside. */
static bool content(const uint8_t *at, size_t n, size_t index, assay_elf_section *section) {
    const uint8_t *const header = header_of(at, index);
    const uint64_t offset = assay_le64(header + offsetof(Elf64_Shdr, sh_offset));
    const uint64_t size = assay_le64(header + offsetof(Elf64_Shdr, sh_size));
    section->type = assay_le32(header + offsetof(Elf64_Shdr, sh_type));
    section->flags = assay_le64(header + offsetof(Elf64_Shdr, sh_flags));
    section->bytes = NULL;
    section->n = 0;
    if (section->type == SHT_NOBITS || section->type == SHT_NULL) {
        return true;
    }
    if (offset > n || size > n - (size_t)offset) {
        return false;
    }
    section->bytes = at + (size_t)offset;
    section->n = (size_t)size;
    return true;
}

bool assay_elf_section_at(const uint8_t *at, size_t n, size_t index, assay_elf_section *section) {
    const size_t count = assay_elf_section_count(at, n);
    size_t names = assay_le16(at + offsetof(Elf64_Ehdr, e_shstrndx));
    assay_elf_section strings;
    if (index >= count) {
        return false;
    }
    if (names == SHN_XINDEX) {
        names = assay_le32(header_of(at, 0) + offsetof(Elf64_Shdr, sh_link));
    }
    const size_t name = assay_le32(header_of(at, index) + offsetof(Elf64_Shdr, sh_name));
    if (names >= count || !content(at, n, names, &strings) || name >= strings.n ||
        memchr(strings.bytes + name, '\0', strings.n - name) == NULL) {
        return false;
    }
    section->name = (const char *)strings.bytes + name;
    return content(at, n, index, section);
}

size_t assay_elf_extent(const uint8_t *at, size_t n) {
    const size_t count = assay_elf_section_count(at, n);
    const uint64_t programs = assay_le64(at + offsetof(Elf64_Ehdr, e_phoff));
    const uint64_t program_bytes =
        (uint64_t)assay_le16(at + offsetof(Elf64_Ehdr, e_phnum)) * sizeof(Elf64_Phdr);
    size_t end = sizeof(Elf64_Ehdr);
    if (count == 0 || programs > n || program_bytes > n - (size_t)programs) {
        return 0;
    }
    const size_t tables[] = {(size_t)(header_of(at, count) - at), (size_t)(programs + program_bytes)};
    for (size_t i = 0; i < 2; i++) {
        end = tables[i] > end ? tables[i] : end;
    }
    for (size_t i = 0; i < count; i++) {
        assay_elf_section section;
        if (!content(at, n, i, &section)) {
            return 0;
        }
        if (section.bytes != NULL && (size_t)(section.bytes - at) + section.n > end) {
            end = (size_t)(section.bytes - at) + section.n;
        }
    }
    return end;
}
