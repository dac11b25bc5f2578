// Two builds of a kernel, one source: write the body as an always-inline template, wrap it in a plain function and in
// one that carries `WEALD_TARGET_AVX2`, and pick by `simd_level()`. Fused multiply-add is used by name (fused.h) or not
// at all, so all levels agree.
#pragma once

#include <atomic>

namespace weald {

enum class Simd : int { baseline = 0, avx2 = 1 };

// Whether kernels that gain by 512-bit vectors may take them; only where the level is avx2.
inline std::atomic<bool>& wide_setting() {
  static std::atomic<bool> wide{false};
  return wide;
}

inline bool wide_vectors() {
  return wide_setting().load(std::memory_order_relaxed);
}

// The level in force; set once by the caller of the core (weald.engine), never from the environment here.
inline std::atomic<Simd>& simd_setting() {
  static std::atomic<Simd> level{Simd::baseline};
  return level;
}

inline Simd simd_level() {
  return simd_setting().load(std::memory_order_relaxed);
}

#if defined(__x86_64__) && defined(__GNUC__)
#define WEALD_TARGET_AVX2 [[gnu::target("avx2,fma")]]
#define WEALD_TARGET_AVX512 [[gnu::target("avx2,fma,avx512f,avx512dq")]]
inline Simd best_simd() {
  const bool both = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return both ? Simd::avx2 : Simd::baseline;
}
inline bool has_wide_vectors() {
  return best_simd() == Simd::avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
}
#else
#define WEALD_TARGET_AVX2
#define WEALD_TARGET_AVX512
inline Simd best_simd() {
  return Simd::baseline;
}
inline bool has_wide_vectors() {
  return false;
}
#endif

}  // namespace weald
