#include "core/data/pages/page.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/data/pages/bits.h"
#include "core/data/pages/checksum.h"

namespace weald {

namespace {

constexpr size_t checked_from = 16;  // of a page: after magic and checksum

size_t aligned(size_t n) {
  return (n + page_alignment - 1) / page_alignment * page_alignment;
}

void append(std::vector<unsigned char>& page, const void* bytes, size_t n) {
  const auto* from = static_cast<const unsigned char*>(bytes);
  page.insert(page.end(), from, from + n);
}

uint32_t largest_code(const CodeColumn& column, int64_t n_rows) {
  return with_codes(column, [&](const auto* codes) -> uint32_t {
    return n_rows == 0 ? 0U : static_cast<uint32_t>(*std::max_element(codes, codes + n_rows));
  });
}

bool all_equal(const CodeColumn& column, int64_t n_rows) {
  return with_codes(column, [&](const auto* codes) {
    return n_rows > 0 && std::all_of(codes, codes + n_rows, [&](auto code) { return code == codes[0]; });
  });
}

uint32_t first_code(const CodeColumn& column) {
  return with_codes(column, [](const auto* codes) -> uint32_t { return codes[0]; });
}

PageColumn write_dense(const CodeColumn& column, int64_t n_rows, bool pack, std::vector<unsigned char>& page) {
  PageColumn entry{PageEncoding::raw, column.width, 0, 0, 0, page.size(), 0};
  if (pack && all_equal(column, n_rows)) {
    entry.encoding = PageEncoding::constant;
    entry.value = first_code(column);
    return entry;
  }
  const int bits = std::bit_width(largest_code(column, n_rows));
  if (pack && bits < 8 * column.width && bits <= most_packed_bits) {
    entry.encoding = PageEncoding::bits;
    entry.bits = static_cast<uint8_t>(bits);
    pack_bits(column.data, column.width, n_rows, bits, page);
  } else {
    append(page, column.data, static_cast<size_t>(n_rows) * column.width);
  }
  entry.n_bytes = page.size() - entry.first;
  return entry;
}

PageColumn write_sparse(const CodeColumn& column, std::vector<unsigned char>& page) {
  PageColumn entry{PageEncoding::entries, column.width, 0, 0, column.n_entries, page.size(), 0};
  append(page, column.rows, column.n_entries * sizeof(uint32_t));
  page.resize(aligned(page.size()));
  append(page, column.data, static_cast<size_t>(column.n_entries) * column.width);
  entry.n_bytes = page.size() - entry.first;
  return entry;
}

PageHeader header_of(std::span<const unsigned char> page) {
  PageHeader header;
  std::memcpy(&header, page.data(), sizeof header);
  return header;
}

PageColumn column_of(std::span<const unsigned char> page, size_t j) {
  PageColumn column;
  std::memcpy(&column, page.data() + sizeof(PageHeader) + j * sizeof column, sizeof column);
  return column;
}

// How many bytes a column must have.
size_t bytes_of(const PageColumn& column, uint32_t n_rows) {
  switch (column.encoding) {
    case PageEncoding::constant:
      return 0;
    case PageEncoding::raw:
    case PageEncoding::outside:
      return size_t{n_rows} * column.width;
    case PageEncoding::bits:
      return static_cast<size_t>(packed_bytes(n_rows, column.bits));
    case PageEncoding::entries:
      break;
  }
  return aligned(size_t{column.value} * sizeof(uint32_t)) + size_t{column.value} * column.width;
}

void need(bool holds, const char* what) {
  if (!holds) throw BadInput(what);
}

}  // namespace

std::vector<unsigned char> make_page(const Codes& block, PagePlace place, bool pack) {
  const size_t n_columns = block.columns.size();
  std::vector<unsigned char> page(aligned(sizeof(PageHeader) + n_columns * sizeof(PageColumn)));
  PageHeader header{};
  std::copy_n(page_magic, sizeof header.magic, header.magic);
  header.store = place.store;
  header.first_row = place.first_row;
  header.n_rows = static_cast<uint32_t>(block.n_rows);
  header.n_columns = static_cast<uint32_t>(n_columns);
  for (size_t j = 0; j < n_columns; ++j) {
    const CodeColumn& column = block.columns[j];
    const PageColumn entry = column.sparse ? write_sparse(column, page) : write_dense(column, block.n_rows, pack, page);
    std::memcpy(page.data() + sizeof header + j * sizeof entry, &entry, sizeof entry);
    page.resize(aligned(page.size()));
  }
  page.resize(page.size() + page_alignment);
  std::memcpy(page.data(), &header, sizeof header);
  seal_page(page);
  return page;
}

void seal_page(std::span<unsigned char> page) {
  need(page.size() >= sizeof(PageHeader), "it is shorter than its header");
  PageHeader header = header_of(page);
  header.n_bytes = page.size();
  std::memcpy(page.data(), &header, sizeof header);
  header.checksum = checksum(page.subspan(checked_from));
  std::memcpy(page.data(), &header, sizeof header);
}

void check_page(std::span<const unsigned char> page, PagePlace place, const Codes& codebook) {
  need(page.size() >= sizeof(PageHeader), "it is shorter than its header");
  const PageHeader header = header_of(page);
  need(std::equal(page_magic, page_magic + sizeof header.magic, header.magic), "it does not begin as a page does");
  need(header.n_bytes == page.size(), "it is cut off");
  need(header.checksum == checksum(page.subspan(checked_from)), "its checksum is wrong");
  need(header.store == place.store, "it belongs to another store");
  need(header.first_row == place.first_row, "it holds other rows than it should");
  need(header.n_columns == codebook.columns.size(), "it has another number of columns than its store");
  const size_t end = page.size() - page_alignment;
  need(sizeof header + header.n_columns * sizeof(PageColumn) <= end, "its columns lie beyond its end");
  for (size_t j = 0; j < header.n_columns; ++j) {
    const PageColumn column = column_of(page, j);
    const CodeColumn& known = codebook.columns[j];
    need(column.encoding <= PageEncoding::outside && column.width == known.width &&
             (column.encoding == PageEncoding::entries) == known.sparse,
         "a column is of another kind than its codebook's");
    need(column.encoding != PageEncoding::bits ||
             (column.bits >= 1 && column.bits <= (column.width == 1 ? 8 : most_packed_bits) && column.width <= 2),
         "a column is packed in no way that there is");
    need(column.encoding != PageEncoding::constant || column.value <= known.n_codes, "a code is beyond its codebook");
    if (column.encoding == PageEncoding::outside) continue;
    need(column.n_bytes == bytes_of(column, header.n_rows) && column.first <= end &&
             column.n_bytes <= end - column.first && column.first % page_alignment == 0,
         "a column lies beyond its end");
  }
}

Codes open_page(std::span<const unsigned char> page, const Codes& codebook, std::span<const OutsideColumn> outside) {
  const PageHeader header = header_of(page);
  Codes codes;
  codes.n_rows = header.n_rows;
  codes.columns.assign(codebook.columns.begin(), codebook.columns.end());
  size_t room = 0;
  for (size_t j = 0; j < header.n_columns; ++j) {
    const PageEncoding encoding = column_of(page, j).encoding;
    const bool unpacked = encoding == PageEncoding::constant || encoding == PageEncoding::bits;
    if (unpacked) room += aligned(size_t{header.n_rows} * codes.columns[j].width);
  }
  codes.storage.push_back(std::make_unique_for_overwrite<unsigned char[]>(room));
  unsigned char* out = codes.storage.back().get();
  for (size_t j = 0; j < header.n_columns; ++j) {
    const PageColumn stored = column_of(page, j);
    CodeColumn& column = codes.columns[j];
    const unsigned char* bytes = page.data() + stored.first;
    column.rows = nullptr;
    column.n_entries = 0;
    switch (stored.encoding) {
      case PageEncoding::raw:
        column.data = bytes;
        continue;
      case PageEncoding::outside:
        column.data = nullptr;
        continue;
      case PageEncoding::entries:
        column.rows = reinterpret_cast<const uint32_t*>(bytes);
        column.n_entries = stored.value;
        column.data = bytes + aligned(size_t{stored.value} * sizeof(uint32_t));
        continue;
      case PageEncoding::constant:
        with_code_type(column.width, [&](auto type) {
          std::fill_n(reinterpret_cast<decltype(type)*>(out), header.n_rows, static_cast<decltype(type)>(stored.value));
        });
        break;
      case PageEncoding::bits:
        unpack_bits(bytes, stored.bits, header.n_rows, column.width, out);
        break;
    }
    column.data = out;
    out += aligned(size_t{header.n_rows} * column.width);
  }
  for (const OutsideColumn& each : outside) {
    need(each.column < codes.columns.size() &&
             each.bytes.size() == size_t{header.n_rows} * codes.columns[each.column].width,
         "a compressed column has another size than it should");
    codes.columns[each.column].data = each.bytes.data();
  }
  for (const CodeColumn& column : codes.columns) need(column.data != nullptr || column.sparse, "a column is absent");
  return codes;
}

}  // namespace weald
