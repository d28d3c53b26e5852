/* What the drivers share: statements that are checked, and numbers at random, the same on all platforms. */
#ifndef LW_TEST_EXPECT_H
#define LW_TEST_EXPECT_H
#include <stdint.h>
#include <stdio.h>

static const char *subject = ""; /* the file or folder at hand */
static int failures;

#define EXPECT(condition)                                                                  \
  do {                                                                                     \
    if (!(condition)) {                                                                    \
      fprintf(stderr, "%s:%d: %s: not so: %s\n", __FILE__, __LINE__, subject, #condition); \
      failures++;                                                                          \
    }                                                                                      \
  } while (0)

static uint64_t random_state = 1;

/* 0 to n - 1; the low digits of such a state repeat early and are left out. */
static inline uint32_t random_below(uint32_t n) {
  random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(((random_state >> 32) * n) >> 32);
}
#endif
