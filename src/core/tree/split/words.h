// The split search of boosting over a histogram of words (WordRows): g in the high half of a cell, h in the low one.
//
// Candidates are weighed by the dozen against the best score so far: those that cannot reach it cost a few
// multiplications, the others are scored as Newton::score does it, so that the winner is the one any other search would
// find. An empty cell repeats the candidate before it and never wins against it.
#pragma once

#include <cstdint>

#include "core/tree/split/newton_gain.h"

namespace weald {

struct WordColumn {
  const uint64_t* cells;  // of codes 0 … n_codes; code 0 has no rows
  uint32_t n_codes;
  int64_t total[2];  // Σ g and Σ h of the node
  int64_t min_weight;
};

struct BestWord {
  double score;       // the one to beat at first
  uint32_t code = 0;  // the last one that goes left; 0: none beats it
  uint64_t left = 0;  // what goes left, packed
};

// Columns of two values: the rows of one stand against all others of the node.
struct FlagColumns {
  const int64_t* cells;  // words, or pairs of lanes
  size_t n;
  bool packed;            // words
  const uint8_t* usable;  // 0: not this column; nullptr: all are
  int64_t total[2];       // of the node
  int64_t min_weight;
};

struct BestFlag {
  double score;          // the one to beat at first
  size_t place = 0;      // of the first column with that score
  int64_t rows[2] = {};  // what its rows add up to
  bool found = false;
};

BestFlag best_flag(const FlagColumns& columns, const Newton& criterion, double to_beat);

// Whether fewer than two codes have rows.
bool constant_words(const WordColumn& column);
// The best candidate of a column that scores more than `to_beat`.
BestWord best_word(const WordColumn& column, const Newton& criterion, double to_beat);

}  // namespace weald
