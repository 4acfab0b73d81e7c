-- The model of the colours example: named colours, grouped into families.
return {
  version = "1",
  entities = {
    NamedColor = {
      attributes = {
        name = { "string", optional = false, min_length = 1, max_length = 40 },
        hex = { "string", optional = false },
        -- Stored as 32 bytes, seen as a Color: extension.lua says how.
        color = { "transformable", transformer = "ColorTransformer", class = "Color" },
      },
      relationships = {
        family = { to = "Family", inverse = "colors", delete = "nullify" },
      },
    },
    Family = {
      attributes = {
        name = { "string", optional = false },
        position = { "integer16", optional = false, default = 0 },
      },
      relationships = {
        colors = { to_many = "NamedColor", inverse = "family", delete = "nullify" },
      },
    },
  },
}
