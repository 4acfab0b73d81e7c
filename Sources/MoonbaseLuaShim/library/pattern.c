#include <string.h>

#include "library/pattern.h"

// Lua's patterns, matched within the limits of the run: the original matcher may run for hours on forty characters
// without running a hook. Results and messages are Lua's; every step is counted.

static const char *match(MBLMatcher *m, const char *s, const char *p);

void mbl_matcher_count(MBLMatcher *m, size_t steps) {
  if (steps < (size_t)m->steps) {
    m->steps -= (int)steps;
    return;
  }
  m->steps = MBL_PATTERN_STEPS;
  mbl_charge(m->L, (int64_t)(steps + MBL_PATTERN_STEPS) / 4);
}

// Searching a long set takes the time of many steps.
static void count_item(MBLMatcher *m, const char *p, const char *end) {
  if (end - p > 16) mbl_matcher_count(m, (size_t)(end - p));
}

// MARK: Single characters

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
    case '%': return mbl_in_class(c, (unsigned char)p[1]);
    case '[': return mbl_in_set(c, p, end - 1);
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
  mbl_matcher_count(m, length / 16);
  return s + length;
}

// MARK: Literals

// The special bytes "^$*+?.([%-)". A zero byte is matched, not searched for.
static const MBLSet special = {{
    1ull << '$' | 1ull << '%' | 1ull << '(' | 1ull << ')' | 1ull << '*' | 1ull << '+' | 1ull << '-' | 1ull << '.' | 1ull << '?' | 1,
    1ull << ('[' - 64) | 1ull << ('^' - 64), 0, 0,
}};

// The length of the pattern item if it matches a single byte, stored in `*byte`; 0 for other items.
static size_t literal(const MBLMatcher *m, const char *p, char *byte) {
  if (p >= m->patternEnd) return 0;
  bool isEscape = *p == '%' && p + 1 < m->patternEnd && !mbl_in_class((unsigned char)p[1], 'w');
  if (!isEscape && mbl_set_has(&special, (unsigned char)*p)) return 0;
  *byte = p[isEscape];
  return 1 + isEscape;
}

// The byte with which every match of the item at `p` begins, or -1 if there is none.
static int first_byte(const MBLMatcher *m, const char *p) {
  char byte;
  size_t length = literal(m, p, &byte);
  if (length == 0) return -1;
  char suffix = p + length < m->patternEnd ? p[length] : 0;
  return suffix == '*' || suffix == '?' || suffix == '-' ? -1 : (unsigned char)byte;
}

// MARK: Repetition

// The byte that must follow a repeated item, or -1. The end of an open capture consumes no byte.
static int byte_after(const MBLMatcher *m, const char *rest) {
  if (m->depth == 0) return -1;  // the caller reports that the pattern is too complex
  if (rest < m->patternEnd && *rest == ')') {
    int open = m->level - 1;
    while (open >= 0 && m->capture[open].length != MBL_CAPTURE_OPEN) open--;
    if (open >= 0) rest++;
  }
  return first_byte(m, rest);
}

// The end of the longest run of bytes from `s` that match the item from `p` to `end`.
static const char *run_end(const MBLMatcher *m, const char *s, const char *p, const char *end) {
  MBLSet set;
  switch (*p) {
    case '.': return m->end;
    case '[':
      if (p[1] == '^' && end - p == 4) {
        const char *stop = memchr(s, p[2], (size_t)(m->end - s));
        return stop == NULL ? m->end : stop;
      }
      set = mbl_set(p, end - 1);
      break;
    case '%': set = mbl_class((unsigned char)p[1]); break;
    default:
      while (s < m->end && *s == *p) s++;
      return s;
  }
  while (s < m->end && mbl_set_has(&set, (unsigned char)*s)) s++;
  return s;
}

static const char *longest(MBLMatcher *m, const char *s, const char *p, const char *end) {
  ptrdiff_t length = run_end(m, s, p, end) - s;
  mbl_matcher_count(m, (size_t)length);
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
    count_item(m, p, end);
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
        mbl_matcher_count(m, (size_t)(at - s));
        return at + 1;
      }
    } else if (*at == *p) {
      depth++;
    }
  }
  mbl_matcher_count(m, (size_t)(m->end - s));
  return NULL;
}

static bool at_frontier(MBLMatcher *m, const char *s, const char *p, const char *end) {
  int before = s == m->begin ? 0 : (unsigned char)s[-1];
  int after = s == m->end ? 0 : (unsigned char)*s;
  return !mbl_in_set(before, p, end - 1) && mbl_in_set(after, p, end - 1);
}

// MARK: The matcher

static const char *match_items(MBLMatcher *m, const char *s, const char *p) {
  while (p != m->patternEnd) {
    mbl_matcher_count(m, 1);
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
            count_item(m, p, end);
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
    count_item(m, p, end);
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

const char *mbl_match_after(MBLMatcher *m, const char *s, const char *p, const MBLPrefix *prefix) {
  m->level = 0;
  m->depth = MBL_PATTERN_DEPTH;
  if (p + prefix->patternSkipped == m->patternEnd) {
    mbl_matcher_count(m, 1);
    return s + prefix->skipped;
  }
  return match(m, s + prefix->skipped, p + prefix->patternSkipped);
}

// MARK: What a match begins with

MBLPrefix mbl_prefix(const MBLMatcher *m, const char *p) {
  MBLPrefix prefix = {0};
  const char *start = p;
  while (prefix.length < sizeof prefix.text) {
    size_t length = literal(m, p, &prefix.text[prefix.length]);
    if (length == 0) break;
    p += length;
    char suffix = p < m->patternEnd ? *p : 0;
    if (suffix == '*' || suffix == '?' || suffix == '-') break;
    prefix.length++;
    if (suffix == '+') break;
    prefix.skipped = prefix.length;
    prefix.patternSkipped = (size_t)(p - start);
  }
  return prefix;
}

const char *mbl_next_place(MBLMatcher *m, const char *s, const MBLPrefix *prefix) {
  if (prefix->length == 0) return s;
  size_t rest = (size_t)(m->end - s);
  const char *place = mbl_find_bytes(s, rest, prefix->text, prefix->length);
  mbl_matcher_count(m, (place == NULL ? rest : (size_t)(place - s)) / 64);
  return place;
}
