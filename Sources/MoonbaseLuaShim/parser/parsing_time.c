#include <stdint.h>
#include <string.h>

#include "parser/parser.h"
#include "parser/scanner.h"

// The time of Lua's parser is quadratic in some constructs, without running a hook: a megabyte of `a or a or a` takes
// minutes, a megabyte of `elseif`, or of names within sixty functions, many seconds. These sources are refused; people
// do not write them.

#define NESTING 250
// The most `and` and `or` in an expression, and the most branches of an `if`.
#define LONGEST 2000
// The most names, each counted once for every enclosing function, because the parser searches each of them for the
// name.
#define MOST_SEARCHES 3000000

typedef struct Level {
  int operators, branches;
  bool isFunction, isGroup;
} Level;

typedef struct Parsing {
  Level levels[NESTING];
  int depth, functions;
  int64_t searches;
  bool afterValue;  // a '(' here is a call
} Parsing;

static bool push(Parsing *p, bool isFunction, bool isGroup) {
  if (p->depth == NESTING - 1) return false;  // the parser refuses it
  p->levels[++p->depth] = (Level){.isFunction = isFunction, .isGroup = isGroup};
  p->functions += isFunction;
  return true;
}

static bool pop(Parsing *p) {
  if (p->depth == 0) return false;  // the parser refuses it
  Level *level = &p->levels[p->depth--];
  p->functions -= level->isFunction;
  if (level->isGroup) p->levels[p->depth].operators += level->operators;  // `(a or b) or c` is a single list of jumps
  return true;
}

static bool is_one_of(const char *word, size_t length, const char *const *all) {
  for (; *all != NULL; all++) {
    if (strlen(*all) == length && memcmp(*all, word, length) == 0) return true;
  }
  return false;
}

// Returns false if the rest of the source need not be checked.
static bool take_word(Parsing *p, const char *word, size_t length) {
  static const char *const operators[] = {"and", "or", NULL}, *const branch[] = {"elseif", NULL},
                    *const opens[] = {"do", "if", "repeat", NULL}, *const function[] = {"function", NULL},
                    *const closes[] = {"end", "until", NULL}, *const others[] = {"not", "in", NULL},
                    *const begins[] = {"local", "return", "then", "else", "while", "for", "goto", "break", NULL};
  Level *level = &p->levels[p->depth];
  p->searches += p->functions;
  p->afterValue = false;
  if (is_one_of(word, length, operators)) {
    level->operators++;
  } else if (is_one_of(word, length, branch)) {
    level->branches++;
    level->operators = 0;
  } else if (is_one_of(word, length, function)) {
    return push(p, true, false);
  } else if (is_one_of(word, length, opens)) {
    level->operators = 0;
    return push(p, false, false);
  } else if (is_one_of(word, length, closes)) {
    return pop(p);
  } else if (is_one_of(word, length, begins)) {
    level->operators = 0;
  } else {
    p->afterValue = !is_one_of(word, length, others);
  }
  return true;
}

static bool take_sign(Parsing *p, char sign) {
  bool afterValue = p->afterValue;
  p->afterValue = false;
  switch (sign) {
    case '(': return push(p, false, !afterValue);
    case '{':
    case '[': return push(p, false, false);
    case ')':
    case '}':
    case ']': p->afterValue = true; return pop(p);
    case '=':
    case ',':
    case ';': p->levels[p->depth].operators = 0; return true;
    default: return true;
  }
}

static const char *problem_of(const Parsing *p) {
  const Level *level = &p->levels[p->depth];
  if (level->operators > LONGEST) return "too many 'and' and 'or' in one expression";
  if (level->branches > LONGEST) return "too many branches of one 'if'";
  if (p->searches > MOST_SEARCHES) return "too many names in nested functions";
  return NULL;
}

// The line where a source becomes too slow to parse, or 0.
static int slow_source(const char *bytes, size_t length, const char **problem) {
  Scanner s = {bytes, bytes + length, 1};
  Parsing p = {.depth = 0};
  bool goesOn = true;
  while (s.at < s.end && goesOn) {
    char c = *s.at;
    if (isspace((unsigned char)c)) {
      skip(&s);
    } else if (c == '-' && peek(&s, 1) == '-') {
      skip_comment(&s);
    } else if (c == '[' && level_of(&s) >= 0) {
      skip_long(&s, level_of(&s));
      p.afterValue = true;
    } else if (c == '"' || c == '\'') {
      skip_quoted(&s);
      p.afterValue = true;
    } else if (isdigit((unsigned char)c)) {
      skip_word(&s, true);
      p.afterValue = true;
    } else if (is_name(c)) {
      const char *word = s.at;
      skip_word(&s, false);
      goesOn = take_word(&p, word, (size_t)(s.at - word));
    } else if (strchr("=~<>", c) != NULL && peek(&s, 1) == '=') {
      s.at += 2;
      p.afterValue = false;
    } else {
      s.at++;
      goesOn = take_sign(&p, c);
    }
    if ((*problem = problem_of(&p)) != NULL) return s.line;
  }
  return 0;
}

int mbl_unfit_source(const char *bytes, size_t length, const char **problem) {
  int line = mbl_long_chain(bytes, length);
  if (line == 0) return slow_source(bytes, length, problem);
  *problem = "a chain of fields is too long";
  return line;
}
