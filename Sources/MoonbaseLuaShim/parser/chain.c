#include "parser/parser.h"
#include "parser/scanner.h"

// If an operation fails (`a.b.c + 1`), Lua 5.4.4 finds the name of the value by recursion over its fields, with a
// search at each. A hundred thousand fields crash the process, ten thousand take a second, and no hook runs meanwhile.
// A source with such a chain is refused; people do not write them.

#define LONGEST 200
#define NESTING 250

int mbl_long_chain(const char *bytes, size_t length) {
  Scanner s = {bytes, bytes + length, 1};
  int outer[NESTING];  // chains that wait for a ']'
  int depth = 0, chain = 0;
  bool afterDot = false;  // the next word is a field
  while (s.at < s.end) {
    char c = *s.at;
    if (isspace((unsigned char)c)) {
      skip(&s);
    } else if (c == '-' && peek(&s, 1) == '-') {
      skip_comment(&s);
    } else if (c == '.' && peek(&s, 1) != '.' && !isdigit((unsigned char)peek(&s, 1))) {
      s.at++;
      afterDot = true;
      if (++chain > LONGEST) return s.line;
    } else if (afterDot && is_name(c)) {
      skip_word(&s, false);
      afterDot = false;
    } else if (c == '[' && level_of(&s) >= 0) {
      skip_long(&s, level_of(&s));
      chain = 0;
    } else if (c == '[') {
      if (depth == NESTING) return 0;  // the parser refuses it
      outer[depth++] = chain;
      chain = 0;
      s.at++;
    } else if (c == ']') {
      chain = depth > 0 ? outer[--depth] + 1 : 0;
      if (chain > LONGEST) return s.line;
      s.at++;
    } else if (c == ')') {
      s.at++;  // `(a.b).c` is a single chain
    } else {
      chain = 0;
      afterDot = false;
      if (c == '"' || c == '\'') {
        skip_quoted(&s);
      } else if (is_name(c) || (c == '.' && isdigit((unsigned char)peek(&s, 1)))) {
        skip_word(&s, isdigit((unsigned char)c) || c == '.');
      } else if (c == '.') {
        while (s.at < s.end && *s.at == '.') s.at++;
      } else {
        s.at++;
      }
    }
  }
  return 0;
}
