#include <string.h>

#include "library/library.h"

// Nested source and nested calls both use the C stack, which has 200 levels per state.

#define LEVELS 100

// Whether a source could nest this deep at this point.
static bool has_room(lua_State *L) {
  char source[2 * LEVELS + 8];
  memcpy(source, "return ", 7);
  memset(source + 7, '(', LEVELS);
  source[7 + LEVELS] = '1';
  memset(source + 8 + LEVELS, ')', LEVELS);
  bool fits = luaL_loadbufferx(L, source, sizeof(source), "=(room)", "t") == LUA_OK;
  lua_settop(L, -2);
  return fits;
}

void mbl_tell_overflow(lua_State *L) {
  const char *message = lua_tostring(L, -1);
  if (message == NULL || strcmp(message, "C stack overflow") != 0 || has_room(L)) return;
  lua_pushliteral(L, "C stack overflow: too many calls wait for each other where this is loaded");
  lua_rotate(L, -2, 1);
  lua_settop(L, -2);
}
