#include <string.h>

#include "host/host.h"

// Swift errors that pass through Lua: stored in the state, and raised after the Swift frame has returned.

typedef struct MBLErrorBox {
  MBLState *state;
  void *error;
  int64_t weight;
  int32_t place;
} MBLErrorBox;

static void failure_clear(MBLState *S) {
  if (S->failure.error != NULL) S->host->release(S->failure.error);
  S->failure.error = NULL;
  S->failure.isText = false;
  S->failure.reference = LUA_NOREF;
}

void mbl_fail_text(MBLState *S, const char *bytes, size_t length) {
  failure_clear(S);
  S->failure.text = mbl_scratch_copy(S, bytes, length);
  S->failure.length = S->failure.text == SIZE_MAX ? 0 : length;
  S->failure.isText = true;
}

void mbl_fail_value(MBLState *S, int32_t reference, void *error, int64_t weight) {
  failure_clear(S);
  S->failure.error = error;
  S->failure.weight = weight;
  S->failure.reference = reference;
}

void mbl_fail(MBLState *S, void *error, int64_t weight) { mbl_fail_value(S, LUA_NOREF, error, weight); }

// Moves the failure out of the state, because Lua's next allocation may run a finalizer whose calls also fail. The
// error is kept in the list of pending objects, which owns it if Lua runs out of memory.
static MBLFailure take_failure(MBLState *S, lua_State *L) {
  MBLFailure failure = S->failure;
  if (failure.error != NULL && !mbl_list_add(&S->pending, failure.error)) luaL_error(L, "not enough memory");
  S->failure = (MBLFailure){.reference = LUA_NOREF};
  return failure;
}

// The userdata is created empty before it receives the error.
static void push_error_box(MBLState *S, lua_State *L, int64_t weight) {
  MBLErrorBox *box = lua_newuserdatauv(L, sizeof(MBLErrorBox), 1);
  box->state = S;
  box->error = NULL;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &mbl_key_error_metatable);
  lua_setmetatable(L, -2);
  mbl_push_blame(L);
  lua_setiuservalue(L, -2, 1);
  mbl_reserve_place(S, L);
  box->error = S->pending.items[--S->pending.count];
  box->weight = weight;
  box->place = mbl_own(S, box->error, weight);
}

// The text is in the scratch buffer, which is freed from `scratch` on.
static void push_text(MBLState *S, lua_State *L, const MBLFailure *failure, size_t scratch) {
  mbl_push_blame(L);
  lua_pushlstring(L, failure->length > 0 ? S->scratch.bytes + failure->text : "", failure->length);
  mbl_scratch_free(S, scratch);
  lua_concat(L, 2);
}

// The error behind a value is found by the value.
static void push_chosen_value(MBLState *S, lua_State *L, const MBLFailure *failure) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, failure->reference);
  luaL_unref(L, LUA_REGISTRYINDEX, failure->reference);
  if (failure->error == NULL) return;
  int type = lua_type(L, -1);
  if (type == LUA_TTABLE || type == LUA_TUSERDATA) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &mbl_key_errors);
    lua_pushvalue(L, -2);
    push_error_box(S, L, failure->weight);
    lua_rawset(L, -3);
    lua_settop(L, -2);
  } else {
    mbl_pending_unwind(S, S->pending.count - 1);
  }
}

static void push_failure(MBLState *S, lua_State *L, size_t scratch) {
  MBLFailure failure = take_failure(S, L);
  if (failure.isText) {
    push_text(S, L, &failure, scratch);
    return;
  }
  mbl_scratch_free(S, scratch);
  if (failure.reference != LUA_NOREF) {
    push_chosen_value(S, L, &failure);
  } else if (failure.error != NULL) {
    push_error_box(S, L, failure.weight);
  } else {
    luaL_error(L, "the host function failed");
  }
}

int mbl_raise_failure(MBLState *S, lua_State *L, size_t scratch) {
  if (S->run.abort) {
    mbl_arm(S);
    return mbl_raise_abort(L);
  }
  push_failure(S, L, scratch);
  mbl_tidy(S, L);
  return lua_error(L);
}

static MBLErrorBox *test_error_box(MBLState *S, lua_State *L, int index) {
  if (lua_type(L, index) != LUA_TUSERDATA || lua_rawlen(L, index) != sizeof(MBLErrorBox)) return NULL;
  MBLErrorBox *box = lua_touserdata(L, index);
  return box->state == S ? box : NULL;
}

void *mbl_crossed_error(MBLState *S, int32_t index) {
  lua_State *L = S->running;
  if (!lua_checkstack(L, 4)) return NULL;
  int type = lua_type(L, index);
  if (type != LUA_TTABLE && type != LUA_TUSERDATA) return NULL;
  index = lua_absindex(L, index);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &mbl_key_errors);
  lua_pushvalue(L, index);
  lua_rawget(L, -2);
  MBLErrorBox *box = test_error_box(S, L, -1);
  lua_settop(L, -3);
  // An error value that passed through the host again is in the table of last errors; the userdata itself holds the
  // first error.
  if (box == NULL) box = test_error_box(S, L, index);
  return box != NULL ? box->error : NULL;
}

static int error_text(lua_State *L) {
  MBLState *S = mbl_of(L);
  MBLErrorBox *box = test_error_box(S, L, 1);
  if (box == NULL || box->error == NULL) {
    lua_pushliteral(L, "host error");
    return 1;
  }
  char buffer[512];
  size_t length = S->host->describe(box->error, buffer, sizeof buffer);
  lua_getiuservalue(L, 1, 1);
  if (length <= sizeof buffer) {
    lua_pushlstring(L, buffer, length);
  } else {
    char *large = lua_newuserdatauv(L, length, 0);
    S->host->describe(box->error, large, length);
    lua_pushlstring(L, large, length);
    lua_remove(L, -2);
  }
  lua_concat(L, 2);
  return 1;
}

// `message` is the text without the place.
static int error_index(lua_State *L) {
  const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
  if (strcmp(key, "message") != 0) return 0;
  lua_settop(L, 1);
  lua_pushliteral(L, "");
  lua_setiuservalue(L, 1, 1);
  return error_text(L);
}

static int error_collect(lua_State *L) {
  MBLErrorBox *box = mbl_check_box(L, &mbl_key_error_metatable, "error");
  if (box->error != NULL) mbl_disown(box->state, box->place, box->weight);
  box->error = NULL;
  return 0;
}

void mbl_failure_setup(lua_State *L) {
  lua_createtable(L, 0, 5);
  lua_pushliteral(L, "error");
  lua_setfield(L, -2, "__name");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_pushcfunction(L, error_collect);
  lua_setfield(L, -2, "__gc");
  lua_pushcfunction(L, error_text);
  lua_setfield(L, -2, "__tostring");
  lua_pushcfunction(L, error_index);
  lua_setfield(L, -2, "__index");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &mbl_key_error_metatable);
}
