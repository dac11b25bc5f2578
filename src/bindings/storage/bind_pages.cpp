// Pages: coded blocks as bytes and back, and codebooks without rows.

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include "bindings/arrays.h"
#include "bindings/call.h"
#include "bindings/parts.h"
#include "core/data/encode/encode.h"
#include "core/data/pages/checksum.h"
#include "core/data/pages/page.h"
#include "core/data/pages/sums.h"

namespace weald::bindings {

namespace {

using Bytes = Vector<uint8_t>;

// Keeps Python objects alive for codes that point into them; they may be dropped on any thread.
struct KeptObjects {
  nb::object codebook;
  std::vector<nb::object> buffers;
};

std::shared_ptr<const void> keep(nb::object codebook, std::vector<nb::object> buffers) {
  auto* kept = new KeptObjects{std::move(codebook), std::move(buffers)};
  return {kept, [](const void* pointer) {
            const nb::gil_scoped_acquire gil;
            delete static_cast<const KeptObjects*>(pointer);
          }};
}

// [(kind, n_codes, marks, sparse, default_code), …]
Codes make_codebook(const nb::list& columns) {
  Codes codes;
  codes.resize_dense(columns.size());
  for (size_t j = 0; j < columns.size(); ++j) {
    const auto item = nb::cast<nb::tuple>(columns[j]);
    CodeColumn& column = codes.columns[j];
    column.kind = static_cast<ColumnKind>(nb::cast<int>(item[0]));
    codes.allocate(j, nb::cast<uint32_t>(item[1]));
    const auto marks = nb::cast<Vector<double>>(item[2], false);
    codes.set_marks(j, {marks.data(), marks.data() + marks.size()});
    column.sparse = nb::cast<bool>(item[3]);
    column.default_code = nb::cast<uint32_t>(item[4]);
    require(column.default_code <= column.n_codes, "a default code beyond the codes");
  }
  return codes;
}

nb::list codebook_parts(const Codes& codes) {
  nb::list parts;
  for (const CodeColumn& column : codes.columns) {
    parts.append(nb::make_tuple(static_cast<int>(column.kind), column.n_codes,
                                to_numpy(std::vector<double>(column.marks.begin(), column.marks.end())), column.sparse,
                                column.default_code));
  }
  return parts;
}

// The codes of a page, once it is known to be whole and the one expected. `outside`: [(column, bytes), …].
Codes read_page(nb::object codebook, nb::object page, uint64_t store, uint64_t first_row, const nb::list& outside) {
  const auto bytes = nb::cast<Bytes>(page, false);
  const auto& known = nb::cast<const Codes&>(codebook);
  std::vector<OutsideColumn> brought;
  std::vector<nb::object> buffers{std::move(page)};
  for (const nb::handle item : outside) {
    const auto pair = nb::cast<nb::tuple>(item);
    brought.push_back({nb::cast<size_t>(pair[0]), view(nb::cast<Bytes>(pair[1], false))});
    buffers.push_back(pair[1]);
  }
  Codes codes = call(1, [&](Run&) {
    check_page(view(bytes), {store, first_row}, known);
    return open_page(view(bytes), known, brought);
  });
  codes.kept = keep(std::move(codebook), std::move(buffers));
  return codes;
}

nb::tuple sampled_rows(uint64_t first, uint64_t n, uint64_t below) {
  std::vector<int64_t> rows;
  std::vector<uint64_t> draws;
  for (uint64_t i = 0; i < n; ++i) {
    const uint64_t drawn = sample_draw(first + i);
    if (below != ~uint64_t{0} && drawn >= below) continue;
    rows.push_back(static_cast<int64_t>(i));
    draws.push_back(drawn);
  }
  return nb::make_tuple(to_numpy(std::move(rows)), to_numpy(std::move(draws)));
}

}  // namespace

void bind_pages(nb::module_& m) {
  m.attr("PAGE_HEADER_BYTES") = sizeof(PageHeader);
  m.attr("PAGE_COLUMN_BYTES") = sizeof(PageColumn);
  m.def("make_codebook", make_codebook, nb::arg("columns"));
  m.def("codebook_parts", codebook_parts, nb::arg("codes"));
  m.def(
      "make_page",
      [](const Codes& block, uint64_t store, uint64_t first_row, bool pack) {
        return to_numpy(call(1, [&](Run&) { return make_page(block, {store, first_row}, pack); }));
      },
      nb::arg("block"), nb::arg("store"), nb::arg("first_row"), nb::arg("pack"));
  m.def("seal_page", [](FilledVector<uint8_t> page) { seal_page(view(page)); }, nb::arg("page").noconvert());
  m.def(
      "check_page",
      [](const Codes& codebook, const Bytes& page, uint64_t store, uint64_t first_row) {
        call(1, [&](Run&) { check_page(view(page), {store, first_row}, codebook); });
      },
      nb::arg("codebook"), nb::arg("page").noconvert(), nb::arg("store"), nb::arg("first_row"));
  m.def("read_page", read_page, nb::arg("codebook"), nb::arg("page"), nb::arg("store"), nb::arg("first_row"),
        nb::arg("outside"));
  m.def(
      "checksum", [](const Bytes& bytes) { return call(1, [&](Run&) { return checksum(view(bytes)); }); },
      nb::arg("bytes").noconvert());
  m.def(
      "code_sums",
      [](const Codes& codes, uint64_t first_row) {
        return to_numpy(call(1, [&](Run&) { return code_sums(codes, first_row); }));
      },
      nb::arg("codes"), nb::arg("first_row"));
  m.def("sample_bound", [](int64_t n_present) { return sample_bound(n_present); }, nb::arg("n_present"));
  m.def("sampled_rows", sampled_rows, nb::arg("first"), nb::arg("n"), nb::arg("below"));
  m.attr("SAMPLE_LIMIT") = sample_limit;
}

}  // namespace weald::bindings
