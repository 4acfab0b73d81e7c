#include "host/host.h"

// Values on the stack, as the host reads and pushes them, and the references that retain them.

// MARK: Reading (nothing here raises)

void mbl_get(lua_State *L, int32_t index, MBLValue *value) {
  value->extra = 0;
  switch (lua_type(L, index)) {
    case LUA_TBOOLEAN:
      value->tag = MBLTagBoolean;
      value->integer = lua_toboolean(L, index);
      return;
    case LUA_TNUMBER:
      if (lua_isinteger(L, index)) {
        value->tag = MBLTagInteger;
        value->integer = lua_tointegerx(L, index, NULL);
      } else {
        value->tag = MBLTagNumber;
        value->number = lua_tonumberx(L, index, NULL);
      }
      return;
    case LUA_TSTRING: {
      size_t length;
      value->tag = MBLTagString;
      value->pointer = lua_tolstring(L, index, &length);
      value->length = length;
      return;
    }
    case LUA_TLIGHTUSERDATA:
      if (lua_touserdata(L, index) == (void *)&mbl_key_null) {
        value->tag = MBLTagNull;
      } else {
        value->tag = MBLTagUserdata;
        value->integer = lua_absindex(L, index);
      }
      return;
    case LUA_TTABLE: value->tag = MBLTagTable; break;
    case LUA_TFUNCTION: value->tag = MBLTagFunction; break;
    case LUA_TTHREAD: value->tag = MBLTagThread; break;
    case LUA_TUSERDATA: {
      MBLState *S = mbl_of(L);
      MBLObject *object = mbl_test_object(S, L, index);
      if (object != NULL) {
        value->tag = MBLTagObject;
        value->pointer = mbl_object_alive(S, object) ? object->object : NULL;
        value->length = (uint64_t)(uintptr_t)object->type;
        return;
      }
      MBLInline *inlined = mbl_test_inline(S, L, index);
      if (inlined != NULL) {
        value->tag = MBLTagInline;
        value->pointer = inlined->words;
        value->length = (uint64_t)(uintptr_t)inlined->type;
        return;
      }
      value->tag = MBLTagUserdata;
      break;
    }
    default: value->tag = MBLTagNil; return;
  }
  value->integer = lua_absindex(L, index);
}

bool mbl_to_integer(lua_State *L, int32_t index, int64_t *value) {
  int ok;
  lua_Integer integer = lua_tointegerx(L, index, &ok);
  if (ok) *value = integer;
  return ok;
}

bool mbl_to_number(lua_State *L, int32_t index, double *value) {
  int ok;
  lua_Number number = lua_tonumberx(L, index, &ok);
  if (ok) *value = number;
  return ok;
}

bool mbl_to_boolean(lua_State *L, int32_t index) { return lua_toboolean(L, index); }
bool mbl_is_none_or_nil(lua_State *L, int32_t index) { return lua_type(L, index) <= 0; }
const void *mbl_pointer(lua_State *L, int32_t index) { return lua_topointer(L, index); }
lua_State *mbl_thread(MBLState *S) { return S->running; }
int32_t mbl_top(MBLState *S) { return lua_gettop(S->running); }
void mbl_set_top(MBLState *S, int32_t top) { lua_settop(S->running, top); }
bool mbl_raw_equal(MBLState *S, int32_t a, int32_t b) { return lua_rawequal(S->running, a, b); }

const char *mbl_type_name(lua_State *L, int32_t index) {
  MBLState *S = mbl_of(L);
  if (lua_type(L, index) == LUA_TUSERDATA) {
    MBLObject *object = mbl_test_object(S, L, index);
    if (object != NULL) return object->type->name;
    MBLInline *value = mbl_test_inline(S, L, index);
    if (value != NULL) return value->type->name;
  }
  return lua_type(L, index) == LUA_TLIGHTUSERDATA && lua_touserdata(L, index) == (void *)&mbl_key_null
             ? "null"
             : lua_typename(L, lua_type(L, index));
}

// MARK: Pushing

MBLStatus mbl_protect(MBLState *S, lua_CFunction body, void *request, int results) {
  lua_State *L = S->running;
  if (!lua_checkstack(L, 8)) return MBLStatusStack;
  lua_pushcfunction(L, body);
  lua_pushlightuserdata(L, request);
  return mbl_call_lua(S, L, 1, results, 0);
}

// May raise for lack of memory.
void mbl_push_value(MBLState *S, lua_State *L, const MBLValue *value) {
  switch (value->tag) {
    case MBLTagNil: lua_pushnil(L); return;
    case MBLTagBoolean: lua_pushboolean(L, value->integer != 0); return;
    case MBLTagInteger: lua_pushinteger(L, value->integer); return;
    case MBLTagNumber: lua_pushnumber(L, value->number); return;
    case MBLTagString: lua_pushlstring(L, value->pointer != NULL ? value->pointer : "", value->length); return;
    case MBLTagNull: lua_pushlightuserdata(L, (void *)&mbl_key_null); return;
    case MBLTagObject:
      mbl_push_object_value(S, L, (MBLType *)(uintptr_t)value->length, (void *)value->pointer, value->extra);
      return;
    case MBLTagInline: mbl_push_inline(S, L, (MBLType *)(uintptr_t)value->length, value->pointer); return;
    case MBLTagTable:
    case MBLTagFunction:
    case MBLTagUserdata:
    case MBLTagThread:
    case MBLTagReference: lua_rawgeti(L, LUA_REGISTRYINDEX, value->integer); return;
  }
}

static int push_body(lua_State *L) {
  mbl_push_value(mbl_of(L), L, lua_touserdata(L, 1));
  return 1;
}

MBLStatus mbl_push(MBLState *S, const MBLValue *value) {
  lua_State *L = S->running;
  if (mbl_is_plain(value)) {
    if (!lua_checkstack(L, 4)) return MBLStatusStack;
    mbl_push_value(S, L, value);
    return MBLStatusOK;
  }
  MBLStatus status = mbl_protect(S, push_body, (void *)value, 1);
  if (status != MBLStatusOK) lua_settop(L, -2);
  return status;
}

// MARK: References

bool mbl_push_reference(MBLState *S, int32_t reference) {
  if (!lua_checkstack(S->running, 4)) return false;
  lua_rawgeti(S->running, LUA_REGISTRYINDEX, reference);
  return true;
}

static int reference_body(lua_State *L) {
  lua_pushinteger(L, luaL_ref(L, LUA_REGISTRYINDEX));
  return 1;
}

MBLStatus mbl_reference(MBLState *S, int32_t index, int32_t *reference) {
  lua_State *L = S->running;
  if (!lua_checkstack(L, 8)) return MBLStatusStack;
  index = lua_absindex(L, index);
  mbl_queue_apply(S);
  lua_pushcfunction(L, reference_body);
  lua_pushvalue(L, index);
  MBLStatus status = mbl_call_lua(S, L, 1, 1, 0);
  if (status == MBLStatusOK) *reference = (int32_t)lua_tointegerx(L, -1, NULL);
  lua_settop(L, -2);
  return status;
}
