#ifndef MOONBASE_LUA_PATTERN_H
#define MOONBASE_LUA_PATTERN_H

#include "internal.h"

#define MBL_CAPTURES 32
#define MBL_PATTERN_DEPTH 200
#define MBL_PATTERN_STEPS 2048  // steps between two looks at the limits

// The length of a capture that is not closed, or only a position.
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

void mbl_matcher_prepare(MBLMatcher *m, lua_State *L, const char *s, size_t length, const char *p, size_t patternLength);
// The end of the match of `p` at `s`, or NULL.
const char *mbl_match_at(MBLMatcher *m, const char *s, const char *p);
// The byte that every match of `p` begins with, or -1 where there is no such byte.
int mbl_first_byte(const MBLMatcher *m, const char *p);
// The next place at or after `s` where a match can begin, or NULL.
const char *mbl_next_place(MBLMatcher *m, const char *s, int firstByte);

#endif
