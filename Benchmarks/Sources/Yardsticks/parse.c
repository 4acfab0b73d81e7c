#include "yardsticks.h"

#include <lauxlib.h>
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <lua.h>
#include <stdio.h>
#include <string.h>

int64_t yardstick_lua_loads(const char *expression, int64_t count) {
  lua_State *state = luaL_newstate();
  int64_t loaded = 0;
  if (state == NULL) return -1;
  for (; loaded < count; loaded++) {
    if (luaL_loadstring(state, expression)) {
      fprintf(stderr, "yardstick: %s\n", lua_tostring(state, -1));
      lua_close(state);
      return -1;
    }
    lua_settop(state, 0);
  }
  lua_close(state);
  return loaded;
}

int64_t yardstick_xml_reads(const char *path, const char *element) {
  xmlDocPtr document = xmlReadFile(path, NULL, XML_PARSE_NONET);
  int64_t count = 0;
  xmlNodePtr node;
  if (document == NULL) return -1;
  for (node = xmlDocGetRootElement(document)->children; node != NULL; node = node->next)
    if (node->type == XML_ELEMENT_NODE && strcmp((const char *)node->name, element) == 0) count++;
  xmlFreeDoc(document);
  return count;
}
