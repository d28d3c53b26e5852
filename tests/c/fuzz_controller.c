/* libFuzzer: the reader of controllers on any bytes, and steps of every controller that it accepts. */
#include "use_controller.h"

enum { MAGIC = 8 };

/* Adds a missing magic, which random bytes would hardly contain. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  unsigned char *given = malloc(size + MAGIC);
  if (!given) return 0;
  memcpy(given, "LWCTRL01", MAGIC);
  if (size) memcpy(given + MAGIC, bytes, size);
  const size_t skipped = controller_is_file(bytes, size) ? MAGIC : 0;
  uint64_t sum = 0;
  use_controller(given + skipped, size + MAGIC - skipped, &sum);
  free(given);
  return 0;
}
