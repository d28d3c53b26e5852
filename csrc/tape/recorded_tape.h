/* A tape that was recorded at a state, and the tapes of the same numbers. */
#ifndef LW_RECORDED_TAPE_H
#define LW_RECORDED_TAPE_H
#include "tape/columns.h"
#include "tape/write_tape.h"
#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace lw {

/* A number of the state that is no input: operations folded for it hold for this value alone, or up to this size. */
using assumption = lw_known_number;

struct recorded_tape {
  written_tape written;
  std::vector<assumption> assumptions;
  std::vector<assumption>
      kept;           /* numbers that are the same for all states, behind the constants: of that size at most */
  uint32_t structure; /* of the model, as it is in the present topology */
  int64_t states = 0; /* for which it counted */
  columns registers;
  std::vector<line> left;
  std::vector<double> of_one; /* registers of one state */
  lw_compiled_tape *compiled = nullptr;
  bool is_compared = false;                 /* the compiled one gave the bits of this one */
  int32_t distinct_steps = 0;               /* where equal parts count once */
  bool holds = false;                       /* for the present call */
  int32_t missed = 0, waits = 0;            /* blocks in a row for which it did not count; that it is passed over */
  std::unique_ptr<lw_compiled_rates> rates; /* for one state */
  std::string refusal; /* the guards alone, of states that have no tape for this reason; empty: it is a tape */
};

constexpr char FRICTION_DECIDES[] = "friction decides before each evaluation whether it sticks";
constexpr char DIFFERS[] = "it differs from the kernels";

inline bool are_alike(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/* What computes a row: the first tape that counts, and the kernels until there is one; or, by the row alone, the tape of
 * its own state, which all rows have for which its guards hold; or one of the tapes that were recorded before all rows, else
 * the kernels. */
enum class rule { by_history, by_row, by_first_tapes };

} // namespace lw

struct lw_tapes {
  std::vector<uint32_t> given, computed, by; /* `by`: their derivatives by these in place of them, unless it is empty */
  lw_stage stage;
  lw_tape_kernels kernels;
  std::vector<lw::recorded_tape> tapes;
  std::vector<lw::recorded_tape> refused; /* by rule::by_row, which also has a tape that the next one replaces */
  std::unique_ptr<lw::recorded_tape> last;
  lw::rule chosen = lw::rule::by_history;
  int64_t by_kernels = 0, since_recording = 0;
  size_t width() const { return computed.size() * (by.empty() ? 1 : by.size()); } /* numbers of a state */
  int32_t recordings = 0;
  size_t latest = 0;                     /* the tape that counted last */
  std::string refusal;                   /* of the last one; empty: it made a tape */
  std::string source;                    /* asked for last */
  std::vector<int32_t> offsets;          /* of kept numbers, asked for last */
  lw::columns own;                       /* of results that do not stand in registers */
  std::vector<double> row, computed_row; /* of a state, for the kernels */
  std::vector<const double *> results;   /* columns of the present block */
  std::vector<size_t>
      adopted;              /* tapes that the present run uses, the last one that counted first; see run_jacobians.h */
  size_t adopted_steps = 0; /* operations of all that it asked for */
  int32_t adoptions = 0, by_steps = 0;
};

namespace lw {

/* The last stage that is the same for all states: constants are not where parameters are given. */
lw_stage first_stage(const lw_tapes &t, const lw_model *m);
/* Coordinates of cut joints, which are outputs, are asked for without all others. */
bool locates_cuts(const lw_tapes &t, const lw_model *m);
/* Marks speeds of the tree whose accelerations are given; empty: all of them. */
std::vector<int32_t> driven_speeds(const lw_tapes &t, const lw_model *m);

/* Records the present state, whose constants are valid. Throws a refusal where it has no tape. */
recorded_tape record_state(const lw_state *s, const lw_tapes &t);
/* For which numbers of the state that are not given it counts; valid as long as the tape. */
lw_tape_conditions conditions_of(const recorded_tape &tape);
/* Whether it counts for those of the state. */
bool holds_for(const recorded_tape &tape, const lw_state *s);
/* To the bit; derivatives, which tapes and kernels find in different ways, to rounding. */
bool agrees(const lw_tapes &t, const std::vector<double> &own, const double *computed);

} // namespace lw
#endif
