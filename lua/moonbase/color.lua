-- Colours: red, green, blue and alpha from 0 to 1 (sRGB), with the text forms of CSS.

local _, host = ...
local fault = require "moonbase.fault"

local format, max, min = string.format, math.max, math.min

local names

---@class moonbase.Color
---@field r number
---@field g number
---@field b number
---@field a number
local Color = { __name = "Color" }
local public = host.freeze(Color)
Color.__index, Color.__metatable = public, public

local color = { Color = public }

local function make(r, g, b, a) return setmetatable({ r = r, g = g, b = b, a = a or 1.0 }, Color) end

-- Raises unless the method was called with a colour.
local function own(self, name)
  if getmetatable(self) ~= public then fault.wrong_self(self, "Color", name) end
end

local function other_color(value, name)
  if getmetatable(value) ~= public then fault.wrong(value, "Color", 1, name) end
end

local function part(value, position, caller)
  if math.type(value) == nil or value ~= value or value < 0 or value > 1 then
    fault.raise(format(
      "bad argument #%d to '%s' (number from 0 to 1 expected, got %s)", position, caller, fault.shown(value)))
  end
  return value + 0.0
end

--- A colour from its parts, each from 0 to 1.
---@param r number
---@param g number
---@param b number
---@param a? number default 1
---@return moonbase.Color
function Color.new(r, g, b, a)
  return make(part(r, 1, "new"), part(g, 2, "new"), part(b, 3, "new"), a == nil and 1.0 or part(a, 4, "new"))
end

--- A colour from hue (degrees), saturation and lightness.
---@param hue number
---@param saturation number
---@param lightness number
---@param a? number default 1
---@return moonbase.Color
function Color.hsl(hue, saturation, lightness, a)
  if math.type(hue) == nil or hue - hue ~= 0 then
    fault.raise(format("bad argument #1 to 'hsl' (number of degrees expected, got %s)", fault.shown(hue)))
  end
  saturation, lightness = part(saturation, 2, "hsl"), part(lightness, 3, "hsl")
  a = a == nil and 1.0 or part(a, 4, "hsl")
  local function channel(n)
    local k = (n + hue / 30) % 12
    return lightness - saturation * min(lightness, 1 - lightness) * max(-1, min(k - 3, 9 - k, 1))
  end
  return make(channel(0), channel(8), channel(4), a)
end

-- Text ---------------------------------------------------------------------------------------------------------

local function of_digits(digits)
  local width = #digits < 5 and 1 or 2
  local scale = width == 1 and 15 or 255
  local parts = {}
  for at = 1, #digits, width do parts[#parts + 1] = tonumber(digits:sub(at, at + width - 1), 16) / scale end
  return make(parts[1], parts[2], parts[3], parts[4])
end

-- "255", "40%", "0.5": a number from 0 to `whole`, or a percentage of it; nil for any other text.
local function share(text, whole)
  local digits, percent = text:match("^([%d.]+)(%%?)$")
  local number = tonumber(digits)
  if not number then return nil end
  return min(number / (percent == "%" and 100 or whole), 1.0)
end

local function of_function(name, list)
  local parts = {}
  for word in list:gmatch("[^%s,/]+") do parts[#parts + 1] = word end
  if #parts < 3 or #parts > 4 then return nil end
  local a = parts[4] and share(parts[4], 1) or not parts[4] and 1.0
  if not a then return nil end
  if name:find("^rgb") then
    local r, g, b = share(parts[1], 255), share(parts[2], 255), share(parts[3], 255)
    return r and g and b and make(r, g, b, a)
  end
  local hue = tonumber((parts[1]:gsub("deg$", "")))
  local saturation, lightness = share(parts[2], 100), share(parts[3], 100)
  return hue and hue - hue == 0 and saturation and lightness and Color.hsl(hue, saturation, lightness, a)
end

--- The colour of `#rgb`, `#rgba`, `#rrggbb`, `#rrggbbaa`, `rgb(…)`, `rgba(…)`, `hsl(…)`, `hsla(…)` or a CSS name; nil
--- and a fault for any other text.
---@param text string
---@return moonbase.Color? color
---@return moonbase.Fault? fault
function Color.parse(text)
  fault.check(text, "string", 1, "parse")
  if #text <= 100 then
    local digits = text:match("^#(%x+)$")
    if digits and (#digits == 3 or #digits == 4 or #digits == 6 or #digits == 8) then return of_digits(digits) end
    local name = text:lower()
    names = names or require "moonbase.color_names"
    local known = names[name]
    if known then return of_digits(known) end
    if name == "transparent" then return make(0.0, 0.0, 0.0, 0.0) end
    local kind, list = name:match("^(%l%l%la?)%(([^()]*)%)$")
    if kind == "rgb" or kind == "rgba" or kind == "hsl" or kind == "hsla" then
      local found = of_function(kind, list)
      if found then return found end
    end
  end
  return nil, fault.new { message = format("%q is no colour: #rrggbb, rgb(r, g, b), hsl(h, s, l) or a name is expected",
    text:sub(1, 40)) }
end

local function byte(value) return math.floor(value * 255 + 0.5) end

--- The text `#rrggbb`, or `#rrggbbaa` for a colour that is not opaque.
function Color:__tostring()
  local text = format("#%02x%02x%02x", byte(self.r), byte(self.g), byte(self.b))
  return byte(self.a) == 255 and text or text .. format("%02x", byte(self.a))
end

--- The text of the colour as a method: an export writes this text, and `parse` reads it.
---@return string
function Color:text()
  own(self, "text")
  return tostring(self)
end

function Color.__eq(one, other)
  return one.r == other.r and one.g == other.g and one.b == other.b and one.a == other.a
end

-- Bytes --------------------------------------------------------------------------------------------------------

--- Four doubles, 32 bytes: a form in which a transformer may store a colour.
---@return string
function Color:pack()
  own(self, "pack")
  return string.pack("<dddd", self.r, self.g, self.b, self.a)
end

--- The colour of such bytes, or nil and a fault.
---@param bytes string
---@return moonbase.Color? color
---@return moonbase.Fault? fault
function Color.unpack(bytes)
  fault.check(bytes, "string", 1, "unpack")
  if #bytes ~= 32 then return nil, fault.new { message = "a colour has 32 bytes, not " .. #bytes } end
  local r, g, b, a = string.unpack("<dddd", bytes)
  for _, value in ipairs { r, g, b, a } do
    if not (value >= 0 and value <= 1) then
      return nil, fault.new { message = "a part of a colour is 0 to 1, not " .. fault.shown(value) }
    end
  end
  return make(r, g, b, a)
end

-- Perception ----------------------------------------------------------------------------------------------------

--- The brightness to the eye, from 0 (black) to 1 (white): the relative luminance of WCAG 2.
---@return number
function Color:luminance()
  own(self, "luminance")
  local function linear(value) return value <= 0.04045 and value / 12.92 or ((value + 0.055) / 1.055) ^ 2.4 end
  return 0.2126 * linear(self.r) + 0.7152 * linear(self.g) + 0.0722 * linear(self.b)
end

--- The contrast with another colour, from 1 (none) to 21 (black on white), as WCAG 2 defines it.
---@param other moonbase.Color
---@return number
function Color:contrast(other)
  own(self, "contrast")
  other_color(other, "contrast")
  local one, two = self:luminance(), other:luminance()
  return (max(one, two) + 0.05) / (min(one, two) + 0.05)
end

--- Hue in degrees (0 is red, 120 green, 240 blue; 0 for a grey), saturation and lightness from 0 to 1.
---@return number hue
---@return number saturation
---@return number lightness
function Color:to_hsl()
  own(self, "to_hsl")
  local r, g, b = self.r, self.g, self.b
  local most, least = max(r, g, b), min(r, g, b)
  local span, lightness = most - least, (most + least) / 2
  if span == 0 then return 0.0, 0.0, lightness end
  local saturation = span / (1 - math.abs(2 * lightness - 1))
  if most == r then return 60.0 * ((g - b) / span % 6), saturation, lightness end
  if most == g then return 60.0 * ((b - r) / span + 2), saturation, lightness end
  return 60.0 * ((r - g) / span + 4), saturation, lightness
end

--- A colour between this colour and another one.
---@param other moonbase.Color
---@param share_of_other? number from 0 to 1; default one half
---@return moonbase.Color
function Color:mix(other, share_of_other)
  own(self, "mix")
  other_color(other, "mix")
  local share_two = share_of_other == nil and 0.5 or part(share_of_other, 2, "mix")
  local share_one = 1 - share_two
  return make(self.r * share_one + other.r * share_two, self.g * share_one + other.g * share_two,
    self.b * share_one + other.b * share_two, self.a * share_one + other.a * share_two)
end

--- The colour with another alpha.
---@param a number
---@return moonbase.Color
function Color:with_alpha(a)
  own(self, "with_alpha")
  return make(self.r, self.g, self.b, part(a, 1, "with_alpha"))
end

--- The colour of a table with parts from 0 to 1 under `r`, `g`, `b` and optionally `a`, for assignments of plain
--- tables. A part that is missing or out of range gives nil and a fault.
---@param tree table
---@return moonbase.Color? color
---@return moonbase.Fault? fault
function Color.from_tree(tree)
  fault.check(tree, "table", 1, "from_tree")
  local is_right, value = pcall(Color.new, tree.r, tree.g, tree.b, tree.a)
  if is_right then return value end
  return nil, fault.new { message = "a colour needs numbers from 0 to 1 under r, g and b" }
end

color.new, color.hsl, color.parse, color.unpack = Color.new, Color.hsl, Color.parse, Color.unpack

return color
