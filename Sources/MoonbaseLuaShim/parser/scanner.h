#ifndef MOONBASE_LUA_SCANNER_H
#define MOONBASE_LUA_SCANNER_H

#include <ctype.h>
#include <stdbool.h>

// Walks over a source, distinguishing words and symbols from strings and comments.

typedef struct Scanner {
  const char *at, *end;
  int line;
} Scanner;

static inline char peek(const Scanner *s, int offset) { return s->end - s->at > offset ? s->at[offset] : 0; }

static inline void skip(Scanner *s) {
  if (*s->at++ == '\n') s->line++;
}

// At a '[': the level of a long bracket, or -1.
static inline int level_of(const Scanner *s) {
  int level = 0;
  while (peek(s, level + 1) == '=') level++;
  return peek(s, level + 1) == '[' ? level : -1;
}

static inline void skip_long(Scanner *s, int level) {
  s->at += level + 2;
  for (; s->at < s->end; skip(s)) {
    if (*s->at != ']') continue;
    int closing = 0;
    while (closing < level && peek(s, closing + 1) == '=') closing++;
    if (closing == level && peek(s, level + 1) == ']') {
      s->at += level + 2;
      return;
    }
  }
}

static inline void skip_comment(Scanner *s) {
  s->at += 2;
  int level = peek(s, 0) == '[' ? level_of(s) : -1;
  if (level >= 0) {
    skip_long(s, level);
  } else {
    while (s->at < s->end && *s->at != '\n') s->at++;
  }
}

static inline void skip_quoted(Scanner *s) {
  char quote = *s->at++;
  while (s->at < s->end && *s->at != quote && *s->at != '\n') {
    if (*s->at == '\\' && s->end - s->at > 1) s->at++;
    skip(s);
  }
  if (s->at < s->end) skip(s);
}

static inline bool is_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

static inline void skip_word(Scanner *s, bool isNumber) {
  while (s->at < s->end && (is_name(*s->at) || (isNumber && *s->at == '.'))) s->at++;
}

#endif
