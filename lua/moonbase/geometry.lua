-- Points, sizes, rectangles and ranges, with Foundation's text forms (NSStringFromRect and related functions), which
-- Core Data apps store. Coordinates are floats, as in Foundation; locations and lengths of ranges are integers.

local _, host = ...
local fault = require "moonbase.fault"

local format, match, max, min = string.format, string.match, math.max, math.min

local geometry = {}

-- A class whose table scripts can read but not change; its instances are plain tables with a metatable.
local function class(name)
  local type = { __name = name }
  local public = host.freeze(type)
  -- An instance finds its methods through the frozen table, which is also its visible metatable.
  type.__index, type.__metatable = public, public
  type.__newindex = function(_, key)
    fault.raise(format("a %s has no field '%s'", name, tostring(key)))
  end
  geometry[name] = public
  return type
end

local function kind_of(value)
  local metatable = getmetatable(value)
  for name, public in pairs(geometry) do
    if metatable == public then return "a " .. name end
  end
  return value == nil and "no value" or fault.article(type(value))
end

-- Raises unless a method was called with an object of its class.
local function own(self, class_name, name)
  if getmetatable(self) ~= geometry[class_name] then
    fault.raise(format("calling '%s' on bad self (%s expected, got %s: call it with ':', not with '.')", name,
      class_name, kind_of(self)))
  end
end

-- Checks the operands of an operator: both must be of the class.
local function operands(class_name, operator, one, other)
  local wanted = geometry[class_name]
  if getmetatable(one) == wanted and getmetatable(other) == wanted then return end
  local odd = getmetatable(one) == wanted and other or one
  fault.raise(format("'%s' of a %s takes another %s, not %s", operator, class_name, class_name, kind_of(odd)))
end

-- Checks the argument of a method.
local function argument(value, name, class_name, or_name)
  local metatable = getmetatable(value)
  if metatable == geometry[class_name] or or_name and metatable == geometry[or_name] then return end
  fault.raise(format("bad argument #1 to '%s' (%s expected, got %s)", name,
    or_name and class_name .. " or " .. or_name or class_name, kind_of(value)))
end

-- The value and the number of a product, in either order.
local function scaled(class_name, one, other)
  if math.type(one) then one, other = other, one end
  if not math.type(other) then
    fault.raise(format("'*' of a %s takes a number, not %s", class_name, kind_of(other)))
  end
  return one, other
end

local function number(value, position, name)
  local float = math.type(value) and value + 0.0
  if not float or float ~= float then
    fault.raise(format("bad argument #%d to '%s' (number expected, got %s)", position, name, fault.got(value)))
  end
  return float
end

-- Foundation writes numbers with 17 digits: 0.1 is 0.10000000000000001. Zero has no sign.
local function text_of(value) return format("%.17g", value == 0 and 0 or value) end

local function parse_fault(what, text)
  local form = { Point = "{x, y}", Size = "{width, height}", Rect = "{{x, y}, {width, height}}",
    Range = "{location, length}" }
  return nil, fault.new { message = format("%q is no %s: %s is expected", text:sub(1, 60), what:lower(), form[what]) }
end

local pair = "[ \t]*{[ \t]*([^ \t,{}]+)[ \t]*,[ \t]*([^ \t,{}]+)[ \t]*}[ \t]*"
local pair_form, rect_form = "^" .. pair .. "$", "^[ \t]*{" .. pair .. "," .. pair .. "}[ \t]*$"

-- A coordinate as Foundation writes it: the null rectangle has infinite ones.
local function coordinate(text)
  local infinite = text and match(text, "^(-?)inf$")
  if infinite then return infinite == "-" and -math.huge or math.huge end
  local value = text and match(text, "^[+-]?[%d.]") and not match(text, "[xX]") and tonumber(text)
  return value and value - value == 0 and value + 0.0 or nil
end

-- Point --------------------------------------------------------------------------------------------------------

---@class moonbase.Point
---@field x number
---@field y number
---@operator add(moonbase.Point): moonbase.Point
---@operator sub(moonbase.Point): moonbase.Point
---@operator mul(number): moonbase.Point
---@operator unm: moonbase.Point
local Point = class "Point"

local function point(x, y) return setmetatable({ x = x, y = y }, Point) end

---@param x number
---@param y number
---@return moonbase.Point
function Point.new(x, y) return point(number(x, 1, "Point.new"), number(y, 2, "Point.new")) end

--- The point of `{x, y}`, or nil and a fault.
---@param text string
---@return moonbase.Point? point
---@return moonbase.Fault? fault
function Point.parse(text)
  fault.check(text, "string", 1, "Point.parse")
  local x, y = match(text, pair_form)
  x, y = coordinate(x), coordinate(y)
  if not (x and y) then return parse_fault("Point", text) end
  return point(x, y)
end

---@param other moonbase.Point
---@return number
function Point:distance(other)
  own(self, "Point", "distance")
  argument(other, "distance", "Point")
  return ((self.x - other.x) ^ 2 + (self.y - other.y) ^ 2) ^ 0.5
end

function Point.__eq(one, other) return one.x == other.x and one.y == other.y end
function Point.__add(one, other)
  operands("Point", "+", one, other)
  return Point.new(one.x + other.x, one.y + other.y)
end
function Point.__sub(one, other)
  operands("Point", "-", one, other)
  return Point.new(one.x - other.x, one.y - other.y)
end
function Point.__mul(one, other)
  one, other = scaled("Point", one, other)
  return Point.new(one.x * other, one.y * other)
end
function Point.__unm(one) return Point.new(-one.x, -one.y) end
function Point:__tostring() return "{" .. text_of(self.x) .. ", " .. text_of(self.y) .. "}" end

-- Size ---------------------------------------------------------------------------------------------------------

---@class moonbase.Size
---@field width number
---@field height number
---@operator mul(number): moonbase.Size
local Size = class "Size"

local function size(width, height) return setmetatable({ width = width, height = height }, Size) end

---@param width number
---@param height number
---@return moonbase.Size
function Size.new(width, height) return size(number(width, 1, "Size.new"), number(height, 2, "Size.new")) end

--- The size of `{width, height}`, or nil and a fault.
---@param text string
---@return moonbase.Size? size
---@return moonbase.Fault? fault
function Size.parse(text)
  fault.check(text, "string", 1, "Size.parse")
  local width, height = match(text, pair_form)
  width, height = coordinate(width), coordinate(height)
  if not (width and height) then return parse_fault("Size", text) end
  return size(width, height)
end

---@return number
function Size:area()
  own(self, "Size", "area")
  return self.width * self.height
end

function Size.__eq(one, other) return one.width == other.width and one.height == other.height end
function Size.__mul(one, other)
  one, other = scaled("Size", one, other)
  return Size.new(one.width * other, one.height * other)
end
function Size:__tostring() return "{" .. text_of(self.width) .. ", " .. text_of(self.height) .. "}" end

-- Rect ---------------------------------------------------------------------------------------------------------

---@class moonbase.Rect
---@field x number
---@field y number
---@field width number
---@field height number
local Rect = class "Rect"

local function rect(x, y, width, height)
  return setmetatable({ x = x, y = y, width = width, height = height }, Rect)
end

--- A rectangle from four numbers, or from a point and a size.
---@param x number|moonbase.Point
---@param y number|moonbase.Size
---@param width? number
---@param height? number
---@return moonbase.Rect
function Rect.new(x, y, width, height)
  if type(x) == "table" and type(y) == "table" then x, y, width, height = x.x, x.y, y.width, y.height end
  return rect(
    number(x, 1, "Rect.new"), number(y, 2, "Rect.new"), number(width, 3, "Rect.new"), number(height, 4, "Rect.new"))
end

--- The rectangle of `{{x, y}, {width, height}}`, or nil and a fault.
---@param text string
---@return moonbase.Rect? rect
---@return moonbase.Fault? fault
function Rect.parse(text)
  fault.check(text, "string", 1, "Rect.parse")
  local x, y, width, height = match(text, rect_form)
  x, y, width, height = coordinate(x), coordinate(y), coordinate(width), coordinate(height)
  if not (x and y and width and height) then return parse_fault("Rect", text) end
  return rect(x, y, width, height)
end

---@return moonbase.Point
function Rect:origin()
  own(self, "Rect", "origin")
  return Point.new(self.x, self.y)
end

---@return moonbase.Size
function Rect:size()
  own(self, "Rect", "size")
  return Size.new(self.width, self.height)
end

---@return moonbase.Point
function Rect:center()
  own(self, "Rect", "center")
  return Point.new(self.x + self.width / 2, self.y + self.height / 2)
end

--- Width times height; 0 for an empty rectangle.
---@return number
function Rect:area()
  own(self, "Rect", "area")
  return self:is_empty() and 0.0 or self.width * self.height
end

--- Whether the area is zero.
---@return boolean
function Rect:is_empty()
  own(self, "Rect", "is_empty")
  return self.width <= 0 or self.height <= 0
end

--- Whether the rectangle contains a point, or all of another rectangle. The right and upper edges are excluded.
---@param other moonbase.Point|moonbase.Rect
---@return boolean
function Rect:contains(other)
  own(self, "Rect", "contains")
  argument(other, "contains", "Point", "Rect")
  if self:is_empty() or other.x < self.x or other.y < self.y then return false end
  if other.width then
    return other.x + other.width <= self.x + self.width and other.y + other.height <= self.y + self.height
  end
  return other.x < self.x + self.width and other.y < self.y + self.height
end

--- The area that two rectangles share; nil where they share none.
---@param other moonbase.Rect
---@return moonbase.Rect?
function Rect:intersection(other)
  own(self, "Rect", "intersection")
  argument(other, "intersection", "Rect")
  local x, y = max(self.x, other.x), max(self.y, other.y)
  local width = min(self.x + self.width, other.x + other.width) - x
  local height = min(self.y + self.height, other.y + other.height) - y
  if width > 0 and height > 0 then return rect(x, y, width, height) end
end

--- The smallest rectangle around both; an empty rectangle adds nothing.
---@param other moonbase.Rect
---@return moonbase.Rect
function Rect:union(other)
  own(self, "Rect", "union")
  argument(other, "union", "Rect")
  if self:is_empty() then return other end
  if other:is_empty() then return self end
  local x, y = min(self.x, other.x), min(self.y, other.y)
  return rect(x, y, max(self.x + self.width, other.x + other.width) - x,
    max(self.y + self.height, other.y + other.height) - y)
end

---@param dx number
---@param dy number
---@return moonbase.Rect
function Rect:offset(dx, dy)
  own(self, "Rect", "offset")
  dx, dy = number(dx, 1, "offset"), number(dy, 2, "offset")
  return Rect.new(self.x + dx, self.y + dy, self.width, self.height)
end

--- The rectangle with its edges moved inwards (outwards for negative numbers).
---@param dx number
---@param dy number
---@return moonbase.Rect
function Rect:inset(dx, dy)
  own(self, "Rect", "inset")
  dx, dy = number(dx, 1, "inset"), number(dy, 2, "inset")
  return Rect.new(self.x + dx, self.y + dy, self.width - 2 * dx, self.height - 2 * dy)
end

function Rect.__eq(one, other)
  return one.x == other.x and one.y == other.y and one.width == other.width and one.height == other.height
end
function Rect:__tostring() return "{" .. Point.__tostring(self) .. ", " .. Size.__tostring(self) .. "}" end

-- Range --------------------------------------------------------------------------------------------------------

---@class moonbase.Range
---@field location integer from 0, as in Foundation
---@field length integer
local Range = class "Range"

local function count(value, position, name)
  local integer = math.tointeger(value)
  if not integer or integer < 0 then
    fault.raise(format("bad argument #%d to '%s' (an integer of at least 0 expected, got %s)", position, name,
      fault.shown(value)))
  end
  return integer
end

---@param location integer
---@param length integer
---@return moonbase.Range
function Range.new(location, length)
  location, length = count(location, 1, "Range.new"), count(length, 2, "Range.new")
  if length > math.maxinteger - location then
    fault.raise("bad argument #2 to 'Range.new' (the range ends beyond the greatest integer)")
  end
  return setmetatable({ location = location, length = length }, Range)
end

--- The range of `{location, length}`, or nil and a fault.
---@param text string
---@return moonbase.Range? range
---@return moonbase.Fault? fault
function Range.parse(text)
  fault.check(text, "string", 1, "Range.parse")
  local location, length = match(text, "^[ \t]*{[ \t]*(%d+)[ \t]*,[ \t]*(%d+)[ \t]*}[ \t]*$")
  location, length = math.tointeger(location), math.tointeger(length)
  if not (location and length) or length > math.maxinteger - location then return parse_fault("Range", text) end
  return setmetatable({ location = location, length = length }, Range)
end

--- The first location after the range.
---@return integer
function Range:stop()
  own(self, "Range", "stop")
  return self.location + self.length
end

---@param location integer
---@return boolean
function Range:contains(location)
  own(self, "Range", "contains")
  if not math.type(location) then fault.wrong(location, "number", 1, "contains") end
  return location >= self.location and location < self:stop()
end

--- The range that two ranges share; nil where they share none.
---@param other moonbase.Range
---@return moonbase.Range?
function Range:intersection(other)
  own(self, "Range", "intersection")
  argument(other, "intersection", "Range")
  local from = max(self.location, other.location)
  local length = min(self:stop(), other:stop()) - from
  if length > 0 then return Range.new(from, length) end
end

--- The smallest range around both.
---@param other moonbase.Range
---@return moonbase.Range
function Range:union(other)
  own(self, "Range", "union")
  argument(other, "union", "Range")
  local from = min(self.location, other.location)
  return Range.new(from, max(self:stop(), other:stop()) - from)
end

--- The bytes of a string within the range.
---@param text string
---@return string
function Range:of(text)
  own(self, "Range", "of")
  fault.check(text, "string", 1, "of")
  return text:sub(self.location + 1, self:stop())
end

function Range.__eq(one, other) return one.location == other.location and one.length == other.length end
function Range:__tostring() return format("{%d, %d}", self.location, self.length) end

-- Makes the function `from_tree` of a class, for assignments of plain tables. The fields are numbers; a missing field
-- gives nil and a fault.
local function read_tables(name, type, ...)
  local fields = { ... }
  function type.from_tree(tree)
    fault.check(tree, "table", 1, name .. ".from_tree")
    local values = {}
    for index, field in ipairs(fields) do
      local value = tree[field]
      if not math.type(value) then
        local message = format("a %s needs a number under '%s', not %s", name, field, kind_of(value))
        return nil, fault.new { message = message }
      end
      values[index] = value
    end
    local is_right, made = pcall(type.new, table.unpack(values))
    if is_right then return made end
    return nil, fault.new { message = tostring(made) }
  end
end

read_tables("Point", Point, "x", "y")
read_tables("Size", Size, "width", "height")
read_tables("Rect", Rect, "x", "y", "width", "height")
read_tables("Range", Range, "location", "length")

return geometry
