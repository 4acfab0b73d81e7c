-- What the model alone cannot say: a class of values, how they are stored, a rule, and attributes that are computed.
-- Change this file and run the script again: nothing is rebuilt.

local Color = {}
Color.__index = Color
Color.__name = "Color"

function Color.new(r, g, b, a)
  return setmetatable({ r = r, g = g, b = b, a = a or 1.0 }, Color)
end

--- "#1e90ff" as a colour, or nil where the text is none.
function Color.parse(text)
  local r, g, b = text:match("^#(%x%x)(%x%x)(%x%x)$")
  return r and Color.new(tonumber(r, 16) / 255, tonumber(g, 16) / 255, tonumber(b, 16) / 255)
end

function Color.__eq(one, other)
  return one.r == other.r and one.g == other.g and one.b == other.b and one.a == other.a
end

local function byte(component)
  return math.floor(component * 255 + 0.5)
end

function Color.__tostring(color)
  return string.format("#%02x%02x%02x", byte(color.r), byte(color.g), byte(color.b))
end

--- How bright the eye finds the colour, from 0 (black) to 1 (white): the relative luminance of WCAG 2.
local function luminance(color)
  local function linear(component)
    return component <= 0.04045 and component / 12.92 or ((component + 0.055) / 1.055) ^ 2.4
  end
  return 0.2126 * linear(color.r) + 0.7152 * linear(color.g) + 0.0722 * linear(color.b)
end

--- The angle on the colour wheel in degrees (0 is red, 120 green, 240 blue), or -1 for a grey.
local function hue(color)
  local r, g, b = color.r, color.g, color.b
  local most, least = math.max(r, g, b), math.min(r, g, b)
  local span = most - least
  if span < 0.03 then return -1.0 end
  if most == r then return 60.0 * ((g - b) / span % 6) end
  if most == g then return 60.0 * ((b - r) / span + 2) end
  return 60.0 * ((r - g) / span + 4)
end

--- A derived attribute that is a number computed from `hex`; being pure, it works inside SQLite too.
local function from_hex(compute)
  return {
    type = "double", inputs = { "hex" }, pure = true, strict = true,
    get = function(hex)
      local color = Color.parse(hex)
      return color and compute(color)
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
      transform = function(color) return string.pack("<dddd", color.r, color.g, color.b, color.a) end,
      reverse = function(bytes) return Color.new(string.unpack("<dddd", bytes)) end,
    },
  },

  entities = {
    NamedColor = {
      normalize = {
        hex = function(value) return value:lower() end,
      },
      validate = {
        hex = function(value)
          return Color.parse(value) ~= nil, "must be '#' and six hexadecimal digits, such as #1e90ff"
        end,
      },
      derived = {
        luminance = from_hex(luminance),
        hue = from_hex(hue),
      },
    },
  },
}
