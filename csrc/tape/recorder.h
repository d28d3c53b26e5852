/* Records operations of scalars. Some rules of folding hold for finite numbers alone, as 0 a = 0: guards see to it that
 * these are finite, and so are results and quotients. Zeros count without their sign: it shows in quotients by zero and
 * in angles of (-x, 0), which guards refuse. A number that is infinite or none where it is recorded may only be one that
 * nothing needs, as in a branch that is not taken. */
#ifndef LW_TAPE_RECORDER_H
#define LW_TAPE_RECORDER_H
#include "tape/record.h"
#include <cstddef>
#include <unordered_map>

namespace lw {

/* A scalar while it is recorded: its value, and the node that has it; 0: it is a constant. */
struct recorded {
  double value = 0.0;
  int32_t node = 0;
};

class recorder {
 public:
  recorder();

  /* Of absolute value `limit` at most, in all states for which the tape runs. */
  recorded input(double value, double limit);
  recorded apply(lw_tape_operation operation, recorded a, recorded b = {}, recorded c = {}, recorded d = {});
  /* Decides by the values, and guards the decision. */
  bool compare_less(recorded a, recorded b);
  bool compare_equal(recorded a, recorded b);
  /* The whole number that it is, guarded. */
  int32_t whole(recorded a);
  /* It is finite, or the tape does not count. */
  void must_be_finite(recorded a);
  void result(recorded a);
  /* After the last result: guards numbers that must be finite, but those that are if other ones are. */
  void guard_finite();

  record kept;
  int32_t inputs = 0;
  size_t most_nodes; /* beyond which recording is refused */

 private:
  struct key {
    int32_t operation, operand[4];
    bool operator==(const key &other) const;
  };
  struct hash {
    size_t operator()(const key &k) const;
  };
  std::unordered_map<key, int32_t, hash> known, guarded;
  std::unordered_map<uint64_t, int32_t> constants;
  std::vector<double> bounds;                 /* of the absolute value of each node */
  std::vector<char> wanted_finite, relied_on; /* nodes; those whose bounds must hold */

  int32_t node_of(recorded a);
  int32_t constant(double value);
  int32_t add_node(lw_tape_operation operation, const int32_t operand[4], double value, double limit);
  recorded make(lw_tape_operation operation, recorded a, recorded b = {}, recorded c = {}, recorded d = {});
  void require(lw_tape_operation comparison, recorded a, recorded b);
  bool is_limited(lw_tape_operation operation, const int32_t operand[4]) const;
  double bound_of(lw_tape_operation operation, const int32_t operand[4]) const;
  void limit(recorded a, double limit);
  bool is_minus(recorded a) const;
  recorded under_minus(recorded a) const;
  recorded minus(recorded a);
  recorded sum(recorded a, recorded b);
  recorded difference(recorded a, recorded b);
  recorded product(recorded a, recorded b);
  recorded quotient(recorded a, recorded b);
  recorded selected(recorded a, recorded b, recorded yes, recorded no);
  recorded angle(recorded y, recorded x);
};

} // namespace lw
#endif
