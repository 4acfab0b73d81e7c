-- Beyond the model: a class of values, how they are stored, a rule, and attributes that are computed.
-- Change this file and run the script again: nothing is rebuilt.

local color = require "moonbase.color"
local Color = color.Color

--- The angle on the colour wheel in degrees (0 is red, 120 green, 240 blue), or -1 for what the eye takes for a grey.
local function hue(c)
  if math.max(c.r, c.g, c.b) - math.min(c.r, c.g, c.b) < 0.03 then return -1.0 end
  return (c:to_hsl())
end

--- A derived attribute that is a number computed from `hex`; being pure, it works inside SQLite too.
local function from_hex(compute)
  return {
    type = "double", inputs = { "hex" }, pure = true, strict = true,
    get = function(hex)
      local found = Color.parse(hex)
      return found and compute(found)
    end,
  }
end

return {
  name = "colors",
  version = "1.0",
  requires = { moonbase = "1" },

  classes = { Color = Color },

  transformers = {
    ColorTransformer = {
      class = "Color",
      transform = function(value) return value:pack() end,
      reverse = function(bytes) return Color.unpack(bytes) end,
    },
  },

  entities = {
    NamedColor = {
      normalize = {
        hex = function(value) return value:lower() end,
      },
      validate = {
        hex = function(value)
          return value:find("^#%x%x%x%x%x%x$") ~= nil, "must be '#' and six hexadecimal digits, such as #1e90ff"
        end,
      },
      derived = {
        luminance = from_hex(Color.luminance),
        hue = from_hex(hue),
      },
    },
  },
}
