#include "MoonbasePageFiles.h"

// A compiler that knows C23 finds the files beside this one; a test compares the list with the folder.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char api_js[] = {
#embed "../../page/api.js"
};
static const unsigned char app_js[] = {
#embed "../../page/app.js"
};
static const unsigned char dom_js[] = {
#embed "../../page/dom.js"
};
static const unsigned char icon_svg[] = {
#embed "../../page/icon.svg"
};
static const unsigned char index_html[] = {
#embed "../../page/index.html"
};
static const unsigned char lua_js[] = {
#embed "../../page/lua.js"
};
static const unsigned char object_js[] = {
#embed "../../page/object.js"
};
static const unsigned char rows_js[] = {
#embed "../../page/rows.js"
};
static const unsigned char style_css[] = {
#embed "../../page/style.css"
};
static const unsigned char table_js[] = {
#embed "../../page/table.js"
};
static const unsigned char values_js[] = {
#embed "../../page/values.js"
};
static const unsigned char views_js[] = {
#embed "../../page/views.js"
};

static const MBPFile files[] = {
    {"api.js", api_js, sizeof api_js},
    {"app.js", app_js, sizeof app_js},
    {"dom.js", dom_js, sizeof dom_js},
    {"icon.svg", icon_svg, sizeof icon_svg},
    {"index.html", index_html, sizeof index_html},
    {"lua.js", lua_js, sizeof lua_js},
    {"object.js", object_js, sizeof object_js},
    {"rows.js", rows_js, sizeof rows_js},
    {"style.css", style_css, sizeof style_css},
    {"table.js", table_js, sizeof table_js},
    {"values.js", values_js, sizeof values_js},
    {"views.js", views_js, sizeof views_js},
};

size_t mbp_file_count(void) { return sizeof files / sizeof *files; }

const MBPFile *mbp_file_at(size_t index) { return &files[index]; }

static const unsigned char errors_md[] = {
#embed "../../docs/errors.md"
};

static const MBPFile errors = {"errors.md", errors_md, sizeof errors_md};

const MBPFile *mbp_errors(void) { return &errors; }
