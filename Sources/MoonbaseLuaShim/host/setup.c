#include <stdlib.h>

#include "host/host.h"

const char mbl_key_null = 0, mbl_key_errors = 0, mbl_key_error_metatable = 0,
           mbl_key_function_metatable = 0, mbl_key_identities = 0, mbl_key_list = 0;

static void push_weak_table(lua_State *L, const char *mode) {
  lua_createtable(L, 0, 0);
  lua_createtable(L, 0, 1);
  lua_pushstring(L, mode);
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
}

void mbl_make_weak_table(lua_State *L, const char *key, const char *mode) {
  push_weak_table(L, mode);
  lua_rawsetp(L, LUA_REGISTRYINDEX, key);
}

void mbl_host_setup(lua_State *L) {
  push_weak_table(L, "v");
  mbl_of(L)->interned = luaL_ref(L, LUA_REGISTRYINDEX);
  mbl_make_weak_table(L, &mbl_key_errors, "k");
  mbl_make_weak_table(L, &mbl_key_identities, "k");
  mbl_make_weak_table(L, &mbl_key_list, "k");
  mbl_failure_setup(L);
  mbl_function_setup(L);
}

static void free_types(MBLState *S) {
  for (MBLType *type = S->types; type != NULL;) {
    MBLType *next = type->next;
    S->host->release(type->owner);
    mbl_type_free(type);
    type = next;
  }
}

void mbl_host_free(MBLState *S) {
  free_types(S);
  mbl_pending_unwind(S, 0);
  if (S->failure.error != NULL) S->host->release(S->failure.error);
  for (int32_t i = 0; i < S->owned.count; i++) {
    if (S->owned.objects[i] != NULL) S->host->release(S->owned.objects[i]);
  }
  free(S->pending.items);
  free(S->owned.objects);
  free(S->owned.vacant);
  free(S->scratch.bytes);
  free(S->scopes.open);
}
