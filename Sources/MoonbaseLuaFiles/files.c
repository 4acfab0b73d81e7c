#include "MoonbaseLuaFiles.h"

#include <string.h>

// A compiler that knows C23 finds the files beside this one; a test compares the list with the folders.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char moonbase_base64[] = {
#embed "../../lua/moonbase/base64.lua"
};
static const unsigned char moonbase_color[] = {
#embed "../../lua/moonbase/color.lua"
};
static const unsigned char moonbase_color_names[] = {
#embed "../../lua/moonbase/color_names.lua"
};
static const unsigned char moonbase_csv[] = {
#embed "../../lua/moonbase/csv.lua"
};
static const unsigned char moonbase_csv_writer[] = {
#embed "../../lua/moonbase/csv_writer.lua"
};
static const unsigned char moonbase_date[] = {
#embed "../../lua/moonbase/date.lua"
};
static const unsigned char moonbase_fault[] = {
#embed "../../lua/moonbase/fault.lua"
};
static const unsigned char moonbase_geometry[] = {
#embed "../../lua/moonbase/geometry.lua"
};
static const unsigned char moonbase_hex[] = {
#embed "../../lua/moonbase/hex.lua"
};
static const unsigned char moonbase_import[] = {
#embed "../../lua/moonbase/import.lua"
};
static const unsigned char moonbase_json[] = {
#embed "../../lua/moonbase/json.lua"
};
static const unsigned char moonbase_json_writer[] = {
#embed "../../lua/moonbase/json_writer.lua"
};
static const unsigned char moonbase_text[] = {
#embed "../../lua/moonbase/text.lua"
};
static const unsigned char types_batch[] = {
#embed "../../lua/types/batch.lua"
};
static const unsigned char types_context[] = {
#embed "../../lua/types/context.lua"
};
static const unsigned char types_extension[] = {
#embed "../../lua/types/extension.lua"
};
static const unsigned char types_import[] = {
#embed "../../lua/types/import.lua"
};
static const unsigned char types_migration[] = {
#embed "../../lua/types/migration.lua"
};
static const unsigned char types_model[] = {
#embed "../../lua/types/model.lua"
};
static const unsigned char types_model_info[] = {
#embed "../../lua/types/model_info.lua"
};
static const unsigned char types_moonbase[] = {
#embed "../../lua/types/moonbase.lua"
};
static const unsigned char types_object[] = {
#embed "../../lua/types/object.lua"
};
static const unsigned char types_request[] = {
#embed "../../lua/types/request.lua"
};
static const unsigned char types_test[] = {
#embed "../../lua/types/test.lua"
};
static const unsigned char types_values[] = {
#embed "../../lua/types/values.lua"
};

static const MBLFile files[] = {
    {"moonbase/base64.lua", moonbase_base64, sizeof moonbase_base64},
    {"moonbase/color.lua", moonbase_color, sizeof moonbase_color},
    {"moonbase/color_names.lua", moonbase_color_names, sizeof moonbase_color_names},
    {"moonbase/csv.lua", moonbase_csv, sizeof moonbase_csv},
    {"moonbase/csv_writer.lua", moonbase_csv_writer, sizeof moonbase_csv_writer},
    {"moonbase/date.lua", moonbase_date, sizeof moonbase_date},
    {"moonbase/fault.lua", moonbase_fault, sizeof moonbase_fault},
    {"moonbase/geometry.lua", moonbase_geometry, sizeof moonbase_geometry},
    {"moonbase/hex.lua", moonbase_hex, sizeof moonbase_hex},
    {"moonbase/import.lua", moonbase_import, sizeof moonbase_import},
    {"moonbase/json.lua", moonbase_json, sizeof moonbase_json},
    {"moonbase/json_writer.lua", moonbase_json_writer, sizeof moonbase_json_writer},
    {"moonbase/text.lua", moonbase_text, sizeof moonbase_text},
    {"types/batch.lua", types_batch, sizeof types_batch},
    {"types/context.lua", types_context, sizeof types_context},
    {"types/extension.lua", types_extension, sizeof types_extension},
    {"types/import.lua", types_import, sizeof types_import},
    {"types/migration.lua", types_migration, sizeof types_migration},
    {"types/model.lua", types_model, sizeof types_model},
    {"types/model_info.lua", types_model_info, sizeof types_model_info},
    {"types/moonbase.lua", types_moonbase, sizeof types_moonbase},
    {"types/object.lua", types_object, sizeof types_object},
    {"types/request.lua", types_request, sizeof types_request},
    {"types/test.lua", types_test, sizeof types_test},
    {"types/values.lua", types_values, sizeof types_values},
};

size_t mbl_file_count(void) { return sizeof files / sizeof *files; }

const MBLFile *mbl_file_at(size_t index) { return &files[index]; }

const MBLFile *mbl_file_named(const char *name) {
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    if (strcmp(files[i].name, name) == 0) return &files[i];
  }
  return NULL;
}
