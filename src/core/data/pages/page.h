// A page: the codes of a block of rows as bytes, which a file keeps and `open_page` reads where they lie. All numbers
// are little-endian; docs/methods/pages.md has the format.
//
//   PageHeader · PageColumn of each column · the columns, each from a multiple of 64 bytes · 64 bytes of 0
//
// A dense column is one code for all rows, its codes as they are, or their low bits; a sparse one lists rows and codes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/data/codes.h"

namespace weald {

enum class PageEncoding : uint8_t { constant, raw, bits, entries, outside };

struct PageHeader {
  char magic[8];
  uint64_t checksum;  // of all bytes after it
  uint64_t store;     // of whose rows this is a page
  uint64_t first_row;
  uint32_t n_rows;
  uint32_t n_columns;
  uint64_t n_bytes;  // of the page
  uint64_t zero[2];
};

struct PageColumn {
  PageEncoding encoding;
  uint8_t width;  // bytes per code
  uint8_t bits;   // of `bits`
  uint8_t zero;
  uint32_t value;    // `constant`: the code; `entries`: how many
  uint64_t first;    // where its bytes begin; `entries`: its rows, whose codes follow at a multiple of 64
  uint64_t n_bytes;  // up to its end; `outside`: of what the caller brings
};

static_assert(sizeof(PageHeader) == 64 && sizeof(PageColumn) == 24);

inline constexpr char page_magic[9] = "wealdpg1";
inline constexpr size_t page_alignment = 64;

// Which page is expected.
struct PagePlace {
  uint64_t store;
  uint64_t first_row;
};

// What the bytes of one column are elsewhere: a page that keeps it compressed leaves it out.
struct OutsideColumn {
  size_t column;
  std::span<const unsigned char> bytes;  // its codes, raw
};

// `pack`: constant and packed columns where they are smaller, or else all raw.
std::vector<unsigned char> make_page(const Codes& block, PagePlace place, bool pack);
// Gives a page whose bytes have been changed its size and its checksum.
void seal_page(std::span<unsigned char> page);
// Throws BadInput, which says what is wrong, unless the page is whole and the one expected.
void check_page(std::span<const unsigned char> page, PagePlace place, const Codes& codebook);
// The codes of a checked page by the codebook of its store. They point into the page and into the codebook, which the
// caller keeps alive; what was packed is unpacked into memory of their own.
Codes open_page(std::span<const unsigned char> page, const Codes& codebook, std::span<const OutsideColumn> outside);

}  // namespace weald
