/* What methods cannot take, in words. */
#include "plan.h"
#include <stdio.h>

void lw_model_refusal(const lw_model *m, int32_t cluster, lw_method_choice method, char *text, size_t size) {
  if (!size) return;
  text[0] = 0;
  if (!m || cluster >= m->clusters) return;
  if (cluster < 0) {
    lw_refuse_massless_method(m, method, text, size);
  } else if (method == LW_METHOD_EMBEDDING) {
    const int32_t rows = 6 * m->cluster[cluster].loops + m->cluster[cluster].couplings;
    if (rows > LW_MOST_EMBEDDED_ROWS)
      snprintf(text, size, "%d equations are too many for one matrix, which holds %d at most", (int)rows,
               LW_MOST_EMBEDDED_ROWS);
  }
}
