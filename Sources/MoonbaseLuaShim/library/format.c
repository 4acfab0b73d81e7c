#include <string.h>

#include "library/library.h"

// string.format without %p and without addresses in texts of values. The limits are checked after every few
// conversions, because a number may print 400 digits and a text of any length may be quoted.

// The conversions and bytes formatted at once.
#define CONVERSIONS 64
#define BYTES (1 << 16)
// The bytes charged for a number.
#define NUMBER_BYTES 512

typedef struct Format {
  lua_State *L;
  const char *at, *end;
  int argument;  // of the last conversion
  char kind;
  const char *begin;  // its '%'
} Format;

// Advances past the next conversion. Returns false at the end. `%%` is not a conversion.
static bool next_conversion(Format *format) {
  while (format->at < format->end) {
    const char *mark = memchr(format->at, '%', (size_t)(format->end - format->at));
    if (mark == NULL) break;
    format->at = mark + 1;
    while (format->at < format->end && *format->at != 0 && strchr("-+ #0123456789.", *format->at) != NULL) format->at++;
    format->begin = mark;
    format->kind = format->at < format->end ? *format->at++ : 0;
    if (format->kind == '%' && format->at == mark + 2) continue;
    format->argument++;
    return true;
  }
  format->at = format->end;
  return false;
}

static size_t argument_bytes(const Format *format) {
  return lua_type(format->L, format->argument) == LUA_TSTRING ? lua_rawlen(format->L, format->argument) : NUMBER_BYTES;
}

// Refuses %p and replaces values by their texts. Returns the size of the work, in conversions and bytes.
static bool prepare(lua_State *L, Format format, int count) {
  int conversions = 0;
  size_t bytes = 0;
  while (next_conversion(&format)) {
    if (format.kind == 'p') return luaL_error(L, "'%%p' is not available in a sandbox");
    if (format.argument > count) continue;
    int type = lua_type(L, format.argument);
    if (format.kind == 's' && (type >= LUA_TTABLE || type == LUA_TLIGHTUSERDATA)) {
      mbl_push_text(L, format.argument);
      lua_replace(L, format.argument);
    }
    conversions++;
    if (type == LUA_TSTRING) bytes += lua_rawlen(L, format.argument);
  }
  return conversions <= CONVERSIONS && bytes <= BYTES;
}

// Reports a missing or wrong argument by its number, because Lua would count from the beginning of a piece.
static void check(const Format *format) {
  switch (format->kind) {
    case 'c': case 'd': case 'i': case 'o': case 'x': case 'X': luaL_checkinteger(format->L, format->argument); break;
    case 'a': case 'A': case 'e': case 'E': case 'f': case 'F': case 'g': case 'G':
      luaL_checknumber(format->L, format->argument);
      break;
    default: luaL_checkany(format->L, format->argument);
  }
}

// Calls Lua's own function with a piece of the format and the arguments from `first` to `last`. Leaves its result on
// the top.
static void format_piece(lua_State *L, const char *begin, const char *end, int first, int last) {
  luaL_checkstack(L, last - first + 3, "too many arguments");
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_pushlstring(L, begin, (size_t)(end - begin));
  for (int i = first; i <= last; i++) lua_pushvalue(L, i);
  lua_callk(L, last - first + 2, 1, 0, NULL);
}

// A position at which a text can be cut for quoting. The digits written for a control character depend on the following
// byte.
static const char *cut(const char *text, const char *end) {
  if (end - text <= BYTES) return end;
  const char *place = text + BYTES;
  return *place >= '0' && *place <= '9' && (unsigned char)place[-1] < ' ' ? place + 1 : place;
}

// Appends argument `index` as %q does, piece by piece.
static void add_quoted(lua_State *L, luaL_Buffer *buffer, int index) {
  size_t length;
  const char *text = lua_tolstring(L, index, &length), *end = text + length;
  luaL_addchar(buffer, '"');
  while (text < end) {
    const char *next = cut(text, end);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushliteral(L, "%q");
    lua_pushlstring(L, text, (size_t)(next - text));
    lua_callk(L, 2, 1, 0, NULL);
    size_t quotedLength;
    const char *quoted = lua_tolstring(L, -1, &quotedLength);
    lua_pushlstring(L, quoted + 1, quotedLength - 2);
    lua_rotate(L, -2, 1);
    lua_settop(L, -2);
    luaL_addvalue(buffer);
    mbl_charge(L, (int64_t)(next - text) / 4);
    text = next;
  }
  luaL_addchar(buffer, '"');
}

static int format_in_pieces(lua_State *L, Format format) {
  luaL_Buffer buffer;
  luaL_buffinit(L, &buffer);
  const char *begin = format.at;
  int first = 2;
  size_t bytes = 0;
  while (next_conversion(&format)) {
    check(&format);
    size_t more = argument_bytes(&format);
    bool isQuoted = format.kind == 'q' && format.at == format.begin + 2 && more > BYTES &&
                    lua_type(L, format.argument) == LUA_TSTRING;
    if (!isQuoted && (bytes += more) < BYTES && format.argument - first < CONVERSIONS) continue;
    format_piece(L, begin, isQuoted ? format.begin : format.at, first, isQuoted ? format.argument - 1 : format.argument);
    luaL_addvalue(&buffer);
    if (isQuoted) add_quoted(L, &buffer, format.argument);
    mbl_charge(L, (int64_t)(bytes / 16) + 1);
    begin = format.at;
    first = format.argument + 1;
    bytes = 0;
  }
  format_piece(L, begin, format.end, first, format.argument);
  luaL_addvalue(&buffer);
  luaL_pushresult(&buffer);
  return 1;
}

int mbl_format(lua_State *L) {
  size_t length;
  const char *text = luaL_checklstring(L, 1, &length);
  Format format = {.L = L, .at = text, .end = text + length, .argument = 1};
  return prepare(L, format, lua_gettop(L)) ? mbl_call_original(L) : format_in_pieces(L, format);
}
