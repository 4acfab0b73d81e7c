#include <stdlib.h>
#include <string.h>

#include "MoonbaseMeter.h"
#include "run/run.h"

// A Lua function in the form that a store calls for each row (RowCall.swift). The tags that its cells use come first.

_Static_assert(sizeof(MBLValue) == 24 && offsetof(MBLValue, length) == 8 && offsetof(MBLValue, tag) == 16 &&
                   offsetof(MBLValue, extra) == 20 && MBL_BORROWED == 1,
               "a plain value lies as a cell does");
_Static_assert(MBLTagNil == 0 && MBLTagBoolean == 1 && MBLTagInteger == 2 && MBLTagNumber == 3 && MBLTagString == 4,
               "a cell's kinds are tags");

struct MBLRowCall {
  MBLState *const *home;
  int32_t function;
  char *bytes;  // of the last result
  size_t capacity;
};

MBLRowCall *mbl_row_call_make(MBLState *const *home, int32_t function) {
  MBLRowCall *call = calloc(1, sizeof *call);
  if (call != NULL) *call = (MBLRowCall){home, function, NULL, 0};
  return call;
}

void mbl_row_call_free(MBLRowCall *call) {
  free(call->bytes);
  free(call);
}

// Copies the bytes, because they leave the stack with the call.
static bool keep(MBLRowCall *call, const char *bytes, size_t length) {
  if (length > call->capacity) {
    char *larger = realloc(call->bytes, length * 2);
    if (larger == NULL) return false;
    call->bytes = larger;
    call->capacity = length * 2;
  }
  if (length > 0) memcpy(call->bytes, bytes, length);
  return true;
}

// Pushes the function and its arguments, and returns their number.
static int32_t push(lua_State *L, MBLCallRequest *request) {
  bool allocates = false;
  for (int32_t i = 0; i < request->count; i++) allocates |= !mbl_is_plain(&request->arguments[i]);
  if (allocates) {
    lua_pushcfunction(L, mbl_call_body);
    lua_pushlightuserdata(L, request);
    return 1;
  }
  lua_rawgeti(L, LUA_REGISTRYINDEX, request->function);
  for (int32_t i = 0; i < request->count; i++) mbl_push_scalar(L, &request->arguments[i]);
  return request->count;
}

// Returns the tag of the value at `index`, or a negative number.
static int32_t take(MBLRowCall *call, lua_State *L, int index, uint64_t *word, intptr_t *size) {
  if (lua_isinteger(L, index)) {
    *word = (uint64_t)lua_tointegerx(L, index, NULL);
    return MBLTagInteger;
  }
  MBLValue value;
  mbl_get(L, index, &value);
  if (value.tag <= MBLTagNumber) {
    if (value.tag != MBLTagNil) memcpy(word, &value.integer, sizeof *word);
    return (int32_t)value.tag;
  }
  size_t length;
  const char *bytes = value.tag == MBLTagString ? lua_tolstring(L, index, &length) : NULL;
  if (bytes == NULL || !keep(call, bytes, length)) return -1;
  *word = (uintptr_t)call->bytes;
  *size = (intptr_t)length;
  return MBLTagString;
}

// Without a message handler: after a failure the function is called again in another way, which reports the error.
static int32_t answer(MBLRowCall *call, MBLState *S, MBLCallRequest *request, uint64_t *word, intptr_t *size) {
  lua_State *L = S->running;
  int base = lua_gettop(L);
  // Lua guarantees LUA_MINSTACK free slots above the arguments of a call.
  if (base + request->count + 3 > LUA_MINSTACK && !lua_checkstack(L, request->count + 8)) return -1;
  int32_t count = push(L, request);
  bool isKnown = mbl_call_lua(S, L, count, LUA_MULTRET, 0) == MBLStatusOK && lua_gettop(L) > base;
  int32_t tag = isKnown ? take(call, L, base + 1, word, size) : -1;
  lua_settop(L, base);
  return tag;
}

int32_t mbl_row_call(void *context, const void *cells, int32_t count, uint64_t *word, intptr_t *size) {
  MBLRowCall *call = context;
  MBLState *S = *call->home;
  if (S == NULL || S->run.depth == 0) return -1;
  MBLCallRequest request = {call->function, cells, count};
  moonbase_function_enter();
  int32_t tag = answer(call, S, &request, word, size);
  moonbase_function_leave();
  return tag;
}
