#include <stdlib.h>
#include <string.h>

#include "internal.h"

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
int32_t mbl_top(MBLState *S) { return lua_gettop(S->running); }
void mbl_set_top(MBLState *S, int32_t top) { lua_settop(S->running, top); }
bool mbl_raw_equal(MBLState *S, int32_t a, int32_t b) { return lua_rawequal(S->running, a, b); }

const char *mbl_type_name(lua_State *L, int32_t index) {
  MBLState *S = mbl_of(L);
  if (lua_type(L, index) == LUA_TUSERDATA) {
    MBLObject *object = mbl_test_object(S, L, index);
    if (object != NULL) return object->type->name;
  }
  return lua_type(L, index) == LUA_TLIGHTUSERDATA && lua_touserdata(L, index) == (void *)&mbl_key_null
             ? "null"
             : lua_typename(L, lua_type(L, index));
}

// MARK: Protection

MBLStatus mbl_protect(MBLState *S, lua_CFunction body, void *request, int results) {
  lua_State *L = S->running;
  if (!lua_checkstack(L, 8)) return MBLStatusStack;
  int pending = S->pendingCount;
  lua_pushcfunction(L, body);
  lua_pushlightuserdata(L, request);
  int status = lua_pcall(L, 1, results, 0);
  if (status != LUA_OK) mbl_pending_unwind(S, pending);
  return (MBLStatus)status;
}

// May raise: out of memory.
void mbl_push_value(MBLState *S, lua_State *L, const MBLValue *value) {
  switch (value->tag) {
    case MBLTagNil: lua_pushnil(L); return;
    case MBLTagBoolean: lua_pushboolean(L, value->integer != 0); return;
    case MBLTagInteger: lua_pushinteger(L, value->integer); return;
    case MBLTagNumber: lua_pushnumber(L, value->number); return;
    case MBLTagString: lua_pushlstring(L, value->pointer != NULL ? value->pointer : "", value->length); return;
    case MBLTagNull: lua_pushlightuserdata(L, (void *)&mbl_key_null); return;
    case MBLTagObject:
      mbl_push_object_value(S, L, (MBLType *)(uintptr_t)value->length, (void *)value->pointer, value->extra != 0);
      return;
    case MBLTagTable:
    case MBLTagFunction:
    case MBLTagUserdata:
    case MBLTagThread:
    case MBLTagReference: lua_rawgeti(L, LUA_REGISTRYINDEX, value->integer); return;
  }
}

static bool is_plain(const MBLValue *value) { return value->tag != MBLTagString && value->tag != MBLTagObject; }

static int push_body(lua_State *L) {
  mbl_push_value(mbl_of(L), L, lua_touserdata(L, 1));
  return 1;
}

MBLStatus mbl_push(MBLState *S, const MBLValue *value) {
  lua_State *L = S->running;
  if (is_plain(value)) {
    if (!lua_checkstack(L, 4)) return MBLStatusStack;
    mbl_push_value(S, L, value);
    return MBLStatusOK;
  }
  MBLStatus status = mbl_protect(S, push_body, (void *)value, 1);
  if (status != MBLStatusOK) lua_settop(L, -2);
  return status;
}

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
  int status = lua_pcall(L, 1, 1, 0);
  if (status == LUA_OK) *reference = (int32_t)lua_tointegerx(L, -1, NULL);
  lua_settop(L, -2);
  return (MBLStatus)status;
}

// MARK: Traces

static void trace_frame(MBLState *S, lua_State *L, lua_Debug *frame) {
  lua_getinfo(L, "Sln", frame);
  MBLTraceSlot *slot = &S->trace[S->traceCount++];
  strncpy(slot->source, frame->short_src, sizeof slot->source - 1);
  slot->source[sizeof slot->source - 1] = 0;
  slot->name[0] = 0;
  if (frame->name != NULL) {
    strncpy(slot->name, frame->name, sizeof slot->name - 1);
    slot->name[sizeof slot->name - 1] = 0;
  }
  slot->kind = frame->what[0] == 'm' ? "main" : frame->what[0] == 'C' ? "host" : "function";
  slot->line = frame->currentline;
  slot->defined = frame->linedefined;
}

// Built from lua_getinfo: luaL_traceback searches package.loaded and costs a hundred times as much.
void mbl_trace_capture(MBLState *S, lua_State *L, int32_t level) {
  lua_Debug frame;
  S->traceCount = 0;
  while (S->traceCount < MBL_TRACE_ENTRIES && lua_getstack(L, level++, &frame)) trace_frame(S, L, &frame);
}

int mbl_handler(lua_State *L) {
  MBLState *S = mbl_of(L);
  mbl_trace_capture(S, L, 1);
  return 1;
}

void mbl_trace_clear(MBLState *S) { S->traceCount = 0; }
int32_t mbl_trace_count(MBLState *S) { return S->traceCount; }

MBLTraceEntry mbl_trace_entry(MBLState *S, int32_t index) {
  MBLTraceSlot *slot = &S->trace[index];
  return (MBLTraceEntry){slot->source, slot->name[0] ? slot->name : NULL, slot->kind, slot->line, slot->defined};
}

void mbl_where(lua_State *L, int32_t level, char *buffer, size_t capacity) {
  lua_Debug frame;
  buffer[0] = 0;
  if (!lua_getstack(L, level, &frame)) return;
  lua_getinfo(L, "Sl", &frame);
  if (frame.currentline <= 0) return;
  int length = 0;
  while (frame.short_src[length] != 0) length++;
  if ((size_t)length + 16 > capacity) return;
  memcpy(buffer, frame.short_src, length);
  char digits[12];
  int count = 0, line = frame.currentline;
  while (line > 0) {
    digits[count++] = (char)('0' + line % 10);
    line /= 10;
  }
  buffer[length++] = ':';
  while (count > 0) buffer[length++] = digits[--count];
  memcpy(buffer + length, ": ", 3);
}

void mbl_function_name(lua_State *L, char *buffer, size_t capacity, bool *isMethod) {
  lua_Debug frame;
  *isMethod = false;
  buffer[0] = 0;
  if (!lua_getstack(L, 0, &frame)) return;
  lua_getinfo(L, "n", &frame);
  *isMethod = strcmp(frame.namewhat, "method") == 0;
  if (frame.name != NULL) {
    strncpy(buffer, frame.name, capacity - 1);
    buffer[capacity - 1] = 0;
  }
}

// MARK: Calls

typedef struct CallRequest {
  int32_t function;
  const MBLValue *arguments;
  int32_t count;
} CallRequest;

static int call_body(lua_State *L) {
  CallRequest *request = lua_touserdata(L, 1);
  MBLState *S = mbl_of(L);
  luaL_checkstack(L, request->count + 8, NULL);
  lua_settop(L, 0);
  lua_rawgeti(L, LUA_REGISTRYINDEX, request->function);
  for (int32_t i = 0; i < request->count; i++) mbl_push_value(S, L, &request->arguments[i]);
  lua_callk(L, request->count, LUA_MULTRET, 0, NULL);
  return lua_gettop(L);
}

MBLStatus mbl_call(MBLState *S, int32_t function, const MBLValue *arguments, int32_t count, int32_t results) {
  lua_State *L = S->running;
  if (!lua_checkstack(L, count + 8)) return MBLStatusStack;
  bool plain = true;
  for (int32_t i = 0; i < count && plain; i++) plain = is_plain(&arguments[i]);
  int base = lua_gettop(L), pending = S->pendingCount, status;
  bool inHost = mbl_control_set_in_host(S, false);
  lua_pushcfunction(L, mbl_handler);
  if (plain) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, function);
    for (int32_t i = 0; i < count; i++) mbl_push_value(S, L, &arguments[i]);
    status = lua_pcall(L, count, results, base + 1);
  } else {
    CallRequest request = {function, arguments, count};
    lua_pushcfunction(L, call_body);
    lua_pushlightuserdata(L, &request);
    status = lua_pcall(L, 1, results, base + 1);
  }
  mbl_control_set_in_host(S, inHost);
  lua_rotate(L, base + 1, -1);
  lua_settop(L, -2);
  if (status != LUA_OK) {
    S->running = L;
    mbl_pending_unwind(S, pending);
  }
  return (MBLStatus)status;
}

MBLStatus mbl_call_one(MBLState *S, int32_t function, const MBLValue *arguments, int32_t count, MBLValue *result) {
  MBLStatus status = mbl_call(S, function, arguments, count, 1);
  if (status == MBLStatusOK) mbl_get(S->running, -1, result);
  return status;
}

typedef struct LoadRequest {
  const char *bytes;
  size_t length;
  const char *name;
  int32_t environment;
  bool binary;
} LoadRequest;

static int load_body(lua_State *L) {
  LoadRequest *request = lua_touserdata(L, 1);
  int status = luaL_loadbufferx(L, request->bytes != NULL ? request->bytes : "", request->length, request->name, request->binary ? "b" : "t");
  if (status == LUA_OK) {
    if (request->environment != LUA_NOREF) {
      lua_rawgeti(L, LUA_REGISTRYINDEX, request->environment);
      if (lua_setupvalue(L, -2, 1) == NULL) lua_settop(L, -2);
    }
    lua_pushinteger(L, status);
    return 2;
  }
  lua_pushinteger(L, status);
  return 2;
}

MBLStatus mbl_load(MBLState *S, const char *bytes, size_t length, const char *name, int32_t environment, bool binary) {
  LoadRequest request = {bytes, length, name, environment, binary};
  MBLStatus status = mbl_protect(S, load_body, &request, 2);
  if (status != MBLStatusOK) return status;
  status = (MBLStatus)lua_tointegerx(S->running, -1, NULL);
  lua_settop(S->running, -2);
  return status;
}

static int dump_writer(lua_State *L, const void *bytes, size_t size, void *buffer) {
  (void)L;
  luaL_addlstring(buffer, bytes, size);
  return 0;
}

static int dump_body(lua_State *L) {
  int32_t *request = lua_touserdata(L, 1);
  luaL_Buffer buffer;
  lua_rawgeti(L, LUA_REGISTRYINDEX, request[0]);
  // The function must be on the top, and luaL_Buffer moves the top: dump through a second stack.
  lua_State *side = lua_newthread(L);
  lua_pushvalue(L, -2);
  lua_xmove(L, side, 1);
  luaL_buffinit(L, &buffer);
  if (lua_dump(side, dump_writer, &buffer, request[1]) != 0) return luaL_error(L, "unable to dump the function");
  luaL_pushresult(&buffer);
  return 1;
}

MBLStatus mbl_dump(MBLState *S, int32_t function, bool strip) {
  int32_t request[2] = {function, strip};
  return mbl_protect(S, dump_body, request, 1);
}

static int text_body(lua_State *L) {
  mbl_push_text(L, 1);
  return 1;
}

// The text of a value as tostring gives it; a hostile __tostring is an error status, not a crash.
MBLStatus mbl_to_text(MBLState *S, int32_t index) {
  lua_State *L = S->running;
  if (!lua_checkstack(L, 8)) return MBLStatusStack;
  index = lua_absindex(L, index);
  lua_pushcfunction(L, text_body);
  lua_pushvalue(L, index);
  return (MBLStatus)lua_pcall(L, 1, 1, 0);
}

// MARK: Tables

typedef struct TableRequest {
  int32_t table;
  const MBLValue *key;
  const MBLValue *value;
  bool raw;
  int32_t arrayCount, hashCount;
} TableRequest;

static int new_body(lua_State *L) {
  TableRequest *request = lua_touserdata(L, 1);
  lua_createtable(L, request->arrayCount, request->hashCount);
  return 1;
}

MBLStatus mbl_table_new(MBLState *S, int32_t arrayCount, int32_t hashCount) {
  TableRequest request = {.arrayCount = arrayCount, .hashCount = hashCount};
  return mbl_protect(S, new_body, &request, 1);
}

static int get_body(lua_State *L) {
  TableRequest *request = lua_touserdata(L, 1);
  lua_rawgeti(L, LUA_REGISTRYINDEX, request->table);
  mbl_push_value(mbl_of(L), L, request->key);
  if (request->raw && lua_type(L, -2) == LUA_TTABLE) {
    lua_rawget(L, -2);
  } else {
    lua_gettable(L, -2);
  }
  return 1;
}

MBLStatus mbl_table_get(MBLState *S, int32_t table, const MBLValue *key, bool raw) {
  TableRequest request = {.table = table, .key = key, .raw = raw};
  return mbl_protect(S, get_body, &request, 1);
}

static int set_body(lua_State *L) {
  TableRequest *request = lua_touserdata(L, 1);
  MBLState *S = mbl_of(L);
  lua_rawgeti(L, LUA_REGISTRYINDEX, request->table);
  mbl_push_value(S, L, request->key);
  mbl_push_value(S, L, request->value);
  if (request->raw && lua_type(L, -3) == LUA_TTABLE) {
    lua_rawset(L, -3);
  } else {
    lua_settable(L, -3);
  }
  return 0;
}

MBLStatus mbl_table_set(MBLState *S, int32_t table, const MBLValue *key, const MBLValue *value, bool raw) {
  TableRequest request = {.table = table, .key = key, .value = value, .raw = raw};
  return mbl_protect(S, set_body, &request, 0);
}

uint64_t mbl_table_length(MBLState *S, int32_t table) {
  lua_State *L = S->running;
  if (!lua_checkstack(L, 4)) return 0;
  lua_rawgeti(L, LUA_REGISTRYINDEX, table);
  uint64_t length = lua_rawlen(L, -1);
  lua_settop(L, -2);
  return length;
}

static int next_body(lua_State *L) {
  // table, key
  return lua_next(L, 1) ? 2 : 0;
}

bool mbl_table_next(MBLState *S, int32_t table, bool *ok) {
  lua_State *L = S->running;
  *ok = false;
  if (!lua_checkstack(L, 8)) return false;
  int base = lua_gettop(L) - 1;  // below the key
  lua_pushcfunction(L, next_body);
  lua_rawgeti(L, LUA_REGISTRYINDEX, table);
  lua_pushvalue(L, base + 1);
  int status = lua_pcall(L, 2, LUA_MULTRET, 0);
  lua_rotate(L, base + 1, -1);
  lua_settop(L, -2);
  if (status != LUA_OK) return false;
  *ok = true;
  return lua_gettop(L) == base + 2;
}

static int freeze_body(lua_State *L) {
  TableRequest *request = lua_touserdata(L, 1);
  lua_rawgeti(L, LUA_REGISTRYINDEX, request->table);
  return mbl_freeze_top(L);
}

MBLStatus mbl_table_freeze(MBLState *S, int32_t table) {
  TableRequest request = {.table = table};
  return mbl_protect(S, freeze_body, &request, 1);
}

MBLStatus mbl_table_set_metatable(MBLState *S, int32_t table, int32_t metatable) {
  lua_State *L = S->running;
  if (!lua_checkstack(L, 4)) return MBLStatusStack;
  lua_rawgeti(L, LUA_REGISTRYINDEX, table);
  lua_rawgeti(L, LUA_REGISTRYINDEX, metatable);
  lua_setmetatable(L, -2);
  lua_settop(L, -2);
  return MBLStatusOK;
}

bool mbl_table_metatable(MBLState *S, int32_t index) {
  return lua_checkstack(S->running, 4) && lua_getmetatable(S->running, index);
}

// A weak set in the registry names the tables that are lists: a script cannot take the mark away or forge it.
static int mark_body(lua_State *L) {
  TableRequest *request = lua_touserdata(L, 1);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &mbl_key_list);
  lua_rawgeti(L, LUA_REGISTRYINDEX, request->table);
  lua_pushboolean(L, 1);
  lua_rawset(L, -3);
  return 0;
}

MBLStatus mbl_mark_list(MBLState *S, int32_t table) {
  TableRequest request = {.table = table};
  return mbl_protect(S, mark_body, &request, 0);
}

bool mbl_is_list(lua_State *L, int32_t index) {
  if (!lua_checkstack(L, 4)) return false;
  index = lua_absindex(L, index);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &mbl_key_list);
  lua_pushvalue(L, index);
  lua_rawget(L, -2);
  bool marked = lua_toboolean(L, -1);
  lua_settop(L, -3);
  return marked;
}
