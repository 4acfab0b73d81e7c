-- The model of the packages example: the contents of Debian's package index.
return {
  version = "1",
  entities = {
    Package = {
      attributes = {
        name = { "string", optional = false },
        -- Stored as text, seen as a DebianVersion: extension.lua says how.
        version = {
          "transformable", optional = false, transformer = "DebianVersionTransformer", class = "DebianVersion",
        },
        architecture = "string",
        summary = "string",
        size = { "integer64", optional = false, default = 0, min = 0 },           -- bytes to download
        installedSize = { "integer64", optional = false, default = 0, min = 0 },  -- KiB on disk
      },
      relationships = {
        section = { to = "Section", inverse = "packages", delete = "nullify" },
        maintainer = { to = "Maintainer", inverse = "packages", delete = "nullify" },
        dependencies = { to_many = "Package", inverse = "dependents", delete = "nullify" },
        dependents = { to_many = "Package", inverse = "dependencies", delete = "nullify" },
      },
      indexes = { byName = { "name" } },
    },
    Section = {
      attributes = { name = { "string", optional = false } },
      relationships = { packages = { to_many = "Package", inverse = "section", delete = "nullify" } },
    },
    Maintainer = {
      attributes = { name = { "string", optional = false }, email = "string" },
      relationships = { packages = { to_many = "Package", inverse = "maintainer", delete = "nullify" } },
    },
  },
}
