#ifndef MOONBASE_LUA_PATTERN_H
#define MOONBASE_LUA_PATTERN_H

#include "library/library.h"

#define MBL_CAPTURES 32
#define MBL_PATTERN_DEPTH 200
#define MBL_PATTERN_STEPS 2048  // steps between two checks of the limits

// The length of an open capture, and of a position capture.
enum { MBL_CAPTURE_OPEN = -1, MBL_CAPTURE_POSITION = -2 };

typedef struct MBLMatcher {
  const char *begin, *end;  // the subject
  const char *patternEnd;
  lua_State *L;
  int depth;
  int steps;
  int level;
  struct {
    const char *start;
    ptrdiff_t length;
  } capture[MBL_CAPTURES];
} MBLMatcher;

// Counts steps, and checks the limits after enough of them.
void mbl_matcher_count(MBLMatcher *m, size_t steps);
void mbl_matcher_prepare(MBLMatcher *m, lua_State *L, const char *s, size_t length, const char *p, size_t patternLength);
// The common prefix of all matches of a pattern: a text without classes, repetitions and captures; may be empty.
typedef struct MBLPrefix {
  size_t length;
  size_t skipped;         // bytes of the prefix that need not be matched again
  size_t patternSkipped;  // the corresponding bytes of the pattern
  char text[16];
} MBLPrefix;

MBLPrefix mbl_prefix(const MBLMatcher *m, const char *p);
// The next position at or after `s` where a match can begin, or NULL.
const char *mbl_next_place(MBLMatcher *m, const char *s, const MBLPrefix *prefix);
// The end of the match of `p` at a position that begins with the prefix of `p`, or NULL.
const char *mbl_match_after(MBLMatcher *m, const char *s, const char *p, const MBLPrefix *prefix);

// MARK: Sets of bytes

typedef struct MBLSet {
  uint64_t bits[4];
} MBLSet;

// Whether byte `c` is in a class such as 'a' or, negated, 'A'. A byte that names no class matches itself.
bool mbl_in_class(int c, int class);
// Whether byte `c` is in the set whose '[' is at `p` and whose ']' at `last`.
bool mbl_in_set(int c, const char *p, const char *last);
// The bytes of a set or a class, for long runs.
MBLSet mbl_set(const char *p, const char *last);
MBLSet mbl_class(int class);

static inline bool mbl_set_has(const MBLSet *set, int c) { return set->bits[c >> 6] >> (c & 63) & 1; }

#endif
