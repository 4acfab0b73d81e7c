#include "control.h"

// The call that is made for every row. It is mbl_call for one result with a run around it, and nothing else on the way: what
// it costs beside lua_pcall is what the bridge costs.

static inline bool set_in_host(MBLControl *control, bool inHost) {
  bool before = atomic_load_explicit(&control->inHost, memory_order_relaxed);
  atomic_store_explicit(&control->inHost, inHost, memory_order_relaxed);
  return before;
}

// Pushes what cannot raise; false at the first value that can.
static inline bool push_plain(lua_State *L, const MBLValue *arguments, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    switch (arguments[i].tag) {
      case MBLTagNil: lua_pushnil(L); break;
      case MBLTagBoolean: lua_pushboolean(L, arguments[i].integer != 0); break;
      case MBLTagInteger: lua_pushinteger(L, arguments[i].integer); break;
      case MBLTagNumber: lua_pushnumber(L, arguments[i].number); break;
      default: return false;
    }
  }
  return true;
}

static inline void get_result(lua_State *L, MBLValue *result) {
  if (lua_isinteger(L, -1)) {
    result->tag = MBLTagInteger;
    result->integer = lua_tointegerx(L, -1, NULL);
  } else {
    mbl_get(L, -1, result);
  }
}

MBLStatus mbl_fast_begin(MBLState *S, int32_t function, const MBLValue *arguments, int32_t count, MBLValue *result,
                         int32_t *top) {
  if (S->depth > 0) {
    S->depth++;
  } else {
    mbl_begin(S);
  }
  lua_State *L = S->running;
  int base = lua_gettop(L);
  *top = base;
  // Lua promises as many free places above a call's arguments.
  if (base + count + 4 > LUA_MINSTACK && !lua_checkstack(L, count + 8)) return MBLStatusStack;
  lua_pushcfunction(L, mbl_handler);
  lua_rawgeti(L, LUA_REGISTRYINDEX, function);
  if (!push_plain(L, arguments, count)) {
    lua_settop(L, base);
    return mbl_call_one(S, function, arguments, count, result);
  }
  int pending = S->pendingCount;
  bool inHost = set_in_host(S->control, false);
  int status = lua_pcall(L, count, 1, base + 1);
  set_in_host(S->control, inHost);
  if (status == LUA_OK) {
    get_result(L, result);
    return MBLStatusOK;
  }
  lua_rotate(L, base + 1, -1);
  lua_settop(L, -2);
  S->running = L;
  mbl_pending_unwind(S, pending);
  return (MBLStatus)status;
}

void mbl_fast_end(MBLState *S, int32_t top) {
  lua_settop(S->running, top);
  if (S->depth > 1) {
    S->depth--;
  } else {
    mbl_end(S);
  }
}
