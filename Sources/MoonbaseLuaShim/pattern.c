#include <ctype.h>
#include <limits.h>
#include <string.h>

#include "pattern.h"

// Lua's patterns, matched under the limits of the run: the system library's matcher runs for hours on forty characters and
// looks at no hook. Results and messages are Lua's; every step is counted.

static const char *match(MBLMatcher *m, const char *s, const char *p);

static void count(MBLMatcher *m, size_t steps) {
  if (steps < (size_t)m->steps) {
    m->steps -= (int)steps;
    return;
  }
  m->steps = MBL_PATTERN_STEPS;
  mbl_charge(m->L, (int64_t)(steps + MBL_PATTERN_STEPS) / 4);
}

// MARK: Single characters

static bool in_class(int c, int class) {
  bool result;
  switch (tolower(class)) {
    case 'a': result = isalpha(c); break;
    case 'c': result = iscntrl(c); break;
    case 'd': result = isdigit(c); break;
    case 'g': result = isgraph(c); break;
    case 'l': result = islower(c); break;
    case 'p': result = ispunct(c); break;
    case 's': result = isspace(c); break;
    case 'u': result = isupper(c); break;
    case 'w': result = isalnum(c); break;
    case 'x': result = isxdigit(c); break;
    case 'z': result = c == 0; break;
    default: return class == c;
  }
  return isupper(class) ? !result : result;
}

// `p` is at the '[', `last` at the ']'.
static bool in_set(int c, const char *p, const char *last) {
  bool wanted = true;
  if (p[1] == '^') {
    wanted = false;
    p++;
  }
  while (++p < last) {
    if (*p == '%') {
      p++;
      if (in_class(c, (unsigned char)*p)) return wanted;
    } else if (p[1] == '-' && p + 2 < last) {
      p += 2;
      if ((unsigned char)p[-2] <= c && c <= (unsigned char)*p) return wanted;
    } else if ((unsigned char)*p == c) {
      return wanted;
    }
  }
  return !wanted;
}

// The end of the item that begins at `p`, without its suffix.
static const char *item_end(MBLMatcher *m, const char *p) {
  char first = *p++;
  if (first == '%') {
    if (p == m->patternEnd) luaL_error(m->L, "malformed pattern (ends with '%%')");
    return p + 1;
  }
  if (first != '[') return p;
  if (*p == '^') p++;
  do {
    if (p == m->patternEnd) luaL_error(m->L, "malformed pattern (missing ']')");
    if (*p++ == '%' && p < m->patternEnd) p++;
  } while (*p != ']');
  return p + 1;
}

static inline bool single(MBLMatcher *m, const char *s, const char *p, const char *end) {
  if (s >= m->end) return false;
  int c = (unsigned char)*s;
  switch (*p) {
    case '.': return true;
    case '%': return in_class(c, (unsigned char)p[1]);
    case '[': return in_set(c, p, end - 1);
    default: return (unsigned char)*p == c;
  }
}

// MARK: Captures

static int capture_index(MBLMatcher *m, int digit) {
  int index = digit - '1';
  if (index < 0 || index >= m->level || m->capture[index].length == MBL_CAPTURE_OPEN) {
    luaL_error(m->L, "invalid capture index %%%d", index + 1);
  }
  return index;
}

static const char *begin_capture(MBLMatcher *m, const char *s, const char *p, ptrdiff_t kind) {
  if (m->level >= MBL_CAPTURES) luaL_error(m->L, "too many captures");
  m->capture[m->level].start = s;
  m->capture[m->level].length = kind;
  m->level++;
  const char *result = match(m, s, p);
  if (result == NULL) m->level--;
  return result;
}

static const char *end_capture(MBLMatcher *m, const char *s, const char *p) {
  int index = m->level;
  do {
    if (--index < 0) luaL_error(m->L, "invalid pattern capture");
  } while (m->capture[index].length != MBL_CAPTURE_OPEN);
  m->capture[index].length = s - m->capture[index].start;
  const char *result = match(m, s, p);
  if (result == NULL) m->capture[index].length = MBL_CAPTURE_OPEN;
  return result;
}

static const char *same_as_capture(MBLMatcher *m, const char *s, int digit) {
  int index = capture_index(m, digit);
  size_t length = (size_t)m->capture[index].length;
  if ((size_t)(m->end - s) < length || memcmp(m->capture[index].start, s, length) != 0) return NULL;
  count(m, length / 16);
  return s + length;
}

// MARK: Repetition

// The byte that must follow a repeated item, or -1. The end of a capture that is open takes no byte.
static int byte_after(const MBLMatcher *m, const char *rest) {
  if (m->depth == 0) return -1;  // the call says that the pattern is too complex
  if (rest < m->patternEnd && *rest == ')') {
    int open = m->level - 1;
    while (open >= 0 && m->capture[open].length != MBL_CAPTURE_OPEN) open--;
    if (open >= 0) rest++;
  }
  return mbl_first_byte(m, rest);
}

static const char *longest(MBLMatcher *m, const char *s, const char *p, const char *end) {
  ptrdiff_t length = 0;
  while (single(m, s + length, p, end)) length++;
  count(m, (size_t)length);
  const char *rest = end + 1;
  int next = byte_after(m, rest);
  for (; length >= 0; length--) {
    const char *place = s + length;
    if (next >= 0 && (place == m->end || (unsigned char)*place != next)) continue;
    const char *result = match(m, place, rest);
    if (result != NULL) return result;
  }
  return NULL;
}

static const char *shortest(MBLMatcher *m, const char *s, const char *p, const char *end) {
  for (;;) {
    const char *result = match(m, s, end + 1);
    if (result != NULL) return result;
    if (!single(m, s, p, end)) return NULL;
    s++;
  }
}

static const char *balanced(MBLMatcher *m, const char *s, const char *p) {
  if (p >= m->patternEnd - 1) luaL_error(m->L, "malformed pattern (missing arguments to '%%b')");
  if (s >= m->end || *s != *p) return NULL;
  int depth = 1;
  for (const char *at = s + 1; at < m->end; at++) {
    if (*at == p[1]) {
      if (--depth == 0) {
        count(m, (size_t)(at - s));
        return at + 1;
      }
    } else if (*at == *p) {
      depth++;
    }
  }
  count(m, (size_t)(m->end - s));
  return NULL;
}

static bool at_frontier(MBLMatcher *m, const char *s, const char *p, const char *end) {
  int before = s == m->begin ? 0 : (unsigned char)s[-1];
  int after = s == m->end ? 0 : (unsigned char)*s;
  return !in_set(before, p, end - 1) && in_set(after, p, end - 1);
}

// MARK: The matcher

static const char *match_items(MBLMatcher *m, const char *s, const char *p) {
  while (p != m->patternEnd) {
    count(m, 1);
    switch (*p) {
      case '(':
        return p[1] == ')' ? begin_capture(m, s, p + 2, MBL_CAPTURE_POSITION) : begin_capture(m, s, p + 1, MBL_CAPTURE_OPEN);
      case ')': return end_capture(m, s, p + 1);
      case '$':
        if (p + 1 == m->patternEnd) return s == m->end ? s : NULL;
        break;
      case '%':
        switch (p[1]) {
          case 'b':
            s = balanced(m, s, p + 2);
            if (s == NULL) return NULL;
            p += 4;
            continue;
          case 'f': {
            p += 2;
            if (*p != '[') luaL_error(m->L, "missing '[' after '%%f' in pattern");
            const char *end = item_end(m, p);
            if (!at_frontier(m, s, p, end)) return NULL;
            p = end;
            continue;
          }
          case '0': case '1': case '2': case '3': case '4':
          case '5': case '6': case '7': case '8': case '9':
            s = same_as_capture(m, s, (unsigned char)p[1]);
            if (s == NULL) return NULL;
            p += 2;
            continue;
          default: break;
        }
        break;
      default: break;
    }
    const char *end = item_end(m, p);
    char suffix = end < m->patternEnd ? *end : 0;
    if (suffix == '*') return longest(m, s, p, end);
    if (suffix == '-') return shortest(m, s, p, end);
    bool fits = single(m, s, p, end);
    if (suffix == '+') return fits ? longest(m, s + 1, p, end) : NULL;
    if (suffix == '?') {
      if (fits) {
        const char *result = match(m, s + 1, end + 1);
        if (result != NULL) return result;
      }
      p = end + 1;
      continue;
    }
    if (!fits) return NULL;
    s++;
    p = end;
  }
  return s;
}

// The end of the match of `p` at `s`, or NULL.
static const char *match(MBLMatcher *m, const char *s, const char *p) {
  if (m->depth-- == 0) luaL_error(m->L, "pattern too complex");
  const char *result = match_items(m, s, p);
  m->depth++;
  return result;
}

void mbl_matcher_prepare(MBLMatcher *m, lua_State *L, const char *s, size_t length, const char *p, size_t patternLength) {
  m->L = L;
  m->begin = s;
  m->end = s + length;
  m->patternEnd = p + patternLength;
  m->steps = MBL_PATTERN_STEPS;
  m->depth = MBL_PATTERN_DEPTH;
  m->level = 0;
}

const char *mbl_match_at(MBLMatcher *m, const char *s, const char *p) {
  m->level = 0;
  m->depth = MBL_PATTERN_DEPTH;
  return match(m, s, p);
}

int mbl_first_byte(const MBLMatcher *m, const char *p) {
  if (p >= m->patternEnd) return -1;
  bool isEscape = *p == '%' && p + 1 < m->patternEnd && !isalnum((unsigned char)p[1]);
  if (isEscape) p++;
  else if (*p == 0 || strchr("^$*+?.([%-)", *p) != NULL) return -1;
  bool mayBeAbsent = p + 1 < m->patternEnd && (p[1] == '*' || p[1] == '?' || p[1] == '-');
  return mayBeAbsent ? -1 : (unsigned char)*p;
}

const char *mbl_next_place(MBLMatcher *m, const char *s, int firstByte) {
  if (firstByte < 0) return s;
  size_t rest = (size_t)(m->end - s);
  const char *place = memchr(s, firstByte, rest);
  count(m, (place == NULL ? rest : (size_t)(place - s)) / 64);
  return place;
}
