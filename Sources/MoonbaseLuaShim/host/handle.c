#include <string.h>

#include "host/host.h"

// Handles: Swift objects as userdata, and the scopes that end scoped handles.

void *mbl_check_box(lua_State *L, const char *key, const char *name) {
  bool isOne = lua_getmetatable(L, 1) && lua_rawgetp(L, LUA_REGISTRYINDEX, key) == LUA_TTABLE && lua_rawequal(L, -1, -2);
  if (!isOne) luaL_typeerror(L, 1, name);
  return lua_touserdata(L, 1);
}

bool mbl_scope_is_open(const MBLState *S, uint64_t scope) {
  for (int i = S->scopes.count; i > 0; i--) {
    if (S->scopes.open[i - 1] == scope) return true;
  }
  return false;
}

// May raise for lack of memory. The caller keeps `object` alive meanwhile.
void mbl_push_object_value(MBLState *S, lua_State *L, MBLType *type, void *object, uint32_t extra) {
  bool scoped = extra & MBL_SCOPED;
  if (type->interned) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, S->interned);
    if (lua_rawgetp(L, -1, object) == LUA_TUSERDATA) {
      MBLObject *known = lua_touserdata(L, -1);
      if (known->object == object && known->type == type && mbl_object_alive(S, known)) {
        lua_remove(L, -2);
        return;
      }
    }
    lua_settop(L, -2);
  }
  MBLObject *handle = lua_newuserdatauv(L, sizeof(MBLObject), 0);
  handle->state = S;
  handle->object = NULL;
  handle->type = type;
  handle->scope = scoped && S->scopes.count > 0 ? S->scopes.open[S->scopes.count - 1] : 0;
  lua_rawgeti(L, LUA_REGISTRYINDEX, type->metatable);
  lua_setmetatable(L, -2);
  if (type->interned) {
    lua_pushvalue(L, -1);
    lua_rawsetp(L, -3, object);
    lua_remove(L, -2);
  }
  mbl_reserve_place(S, L);
  S->host->retain(object);
  handle->object = object;
  handle->weight = (int64_t)(extra / MBL_WEIGHT_UNIT) * MBL_WEIGHT_GRAIN;
  handle->place = mbl_own(S, object, handle->weight);
}

// May raise for lack of memory.
void mbl_push_inline(MBLState *S, lua_State *L, MBLType *type, const void *bytes) {
  size_t words = (type->inlineSize + sizeof(uint64_t) - 1) / sizeof(uint64_t);
  MBLInline *value = lua_newuserdatauv(L, sizeof(MBLInline) + words * sizeof(uint64_t), 0);
  value->mark = mbl_inline_mark(S);
  value->type = type;
  memcpy(value->words, bytes, type->inlineSize);
  lua_rawgeti(L, LUA_REGISTRYINDEX, type->metatable);
  lua_setmetatable(L, -2);
}

bool mbl_object_kill(MBLState *S, const void *object) {
  lua_State *L = S->running;
  if (!lua_checkstack(L, 4)) return false;
  bool found = false;
  lua_rawgeti(L, LUA_REGISTRYINDEX, S->interned);
  if (lua_rawgetp(L, -1, object) == LUA_TUSERDATA) {
    MBLObject *handle = lua_touserdata(L, -1);
    if (handle->object == object) {
      mbl_disown(S, handle->place, handle->weight);
      handle->object = NULL;
      found = true;
    }
  }
  lua_settop(L, -3);
  return found;
}

uint64_t mbl_scope_begin(MBLState *S) {
  if (S->scopes.count == S->scopes.capacity) {
    uint64_t *grown = mbl_grown(S->scopes.open, &S->scopes.capacity, sizeof(uint64_t));
    if (grown == NULL) return 0;
    S->scopes.open = grown;
  }
  S->scopes.open[S->scopes.count++] = ++S->scopes.last;
  return S->scopes.last;
}

void mbl_scope_end(MBLState *S, uint64_t scope) {
  while (S->scopes.count > 0 && S->scopes.open[S->scopes.count - 1] >= scope) S->scopes.count--;
}
