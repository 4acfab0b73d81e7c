-- A mistake in data: the second result of `decode`, `parse` and their like, and the error of iterators over data.

---@class moonbase.Fault
---@field message string the error, without the place
---@field line? integer from 1
---@field column? integer in characters, from 1
---@field offset? integer in bytes, from 1
---@field record? string the text of a record that was unreadable and skipped

local _, host = ...

local Fault = { __name = "moonbase.fault", __metatable = "moonbase.fault" }

function Fault.__tostring(fault)
  local place = {}
  if fault.line then place[#place + 1] = "line " .. fault.line end
  if fault.column then place[#place + 1] = "column " .. fault.column end
  if #place == 0 and fault.offset then place[1] = "byte " .. fault.offset end
  return #place == 0 and fault.message or table.concat(place, ", ") .. ": " .. fault.message
end

function Fault.__concat(one, other) return tostring(one) .. tostring(other) end

local fault = {}

--- Makes a fault, whose `tostring` has place and message.
---@param fields moonbase.Fault
---@return moonbase.Fault
function fault.new(fields)
  fault.check(fields, "table", 1, "new")
  return setmetatable(fields, Fault)
end

--- Whether a value is a fault.
---@param value any
---@return boolean
function fault.is(value) return type(value) == "table" and getmetatable(value) == "moonbase.fault" end

--- A fault at an offset of a text, with line and column.
---@param text string
---@param offset integer in bytes, from 1
---@param message string
---@return moonbase.Fault
function fault.at(text, offset, message)
  fault.check(text, "string", 1, "at")
  fault.check(offset, "integer", 2, "at")
  fault.check(message, "string", 3, "at")
  local line, start = 1, 1
  while true do
    local feed = text:find("\n", start, true)
    if not feed or feed >= offset then break end
    line, start = line + 1, feed + 1
  end
  local column = offset > start and utf8.len(text, start, math.min(offset - 1, #text), true) or offset - start
  return fault.new { message = message, line = line, column = (column or 0) + 1, offset = offset }
end

--- Raises the error of a wrong call, with the place in the calling script, however deep in the modules it is found.
---@param message string
function fault.raise(message)
  if type(message) ~= "string" then fault.check(message, "string", 1, "raise") end
  error(host.place() .. message, 0)
end

--- The name of a kind with its article: "a string", "an integer".
---@param kind string
---@return string
function fault.article(kind)
  fault.check(kind, "string", 1, "article")
  return (kind:find("^[aeiou]") and "an " or "a ") .. kind
end

--- A value's name in a message: its type, or itself where it is a number of the wrong kind.
---@param value any
---@param wanted? string
---@return string
function fault.got(value, wanted)
  if value == nil then return "no value" end
  if value ~= value then return "NaN" end
  if wanted == "integer" and math.type(value) == "float" then return string.format("%.14g, which is a float", value) end
  return type(value)
end

--- A value's form in a message: numbers themselves, for all other values the type.
---@param value any
---@return string
function fault.shown(value)
  if value == value and math.type(value) then return tostring(value) end
  return fault.got(value)
end

--- Checks an argument of a module's function; the message names the caller of that function.
---@param value any
---@param kind string a result of `type`, or "integer"
---@param position integer
---@param name string of the function
function fault.check(value, kind, position, name)
  if type(value) ~= kind and (kind ~= "integer" or math.type(value) ~= kind) then
    fault.wrong(value, kind, position, name)
  end
end

--- Checks an argument that may be left out.
---@param value any
---@param kind string
---@param position integer
---@param name string
function fault.check_optional(value, kind, position, name)
  if value ~= nil then fault.check(value, kind, position, name) end
end

--- Raises that an argument is of another kind than expected.
---@param value any
---@param expected string
---@param position integer
---@param name string of the function
function fault.wrong(value, expected, position, name)
  fault.raise(string.format("bad argument #%s to '%s' (%s expected, got %s)", tostring(position), tostring(name),
    tostring(expected), fault.got(value, expected)))
end

--- Raises that a method was called without an object of its class.
---@param value any
---@param class string
---@param name string of the method
function fault.wrong_self(value, class, name)
  fault.raise(string.format("calling '%s' on bad self (%s expected, got %s: call it with ':', not with '.')",
    tostring(name), tostring(class), fault.got(value)))
end

--- Whether a value is a file or another object with a given method.
---@param value any
---@param method string
---@return boolean
function fault.has_method(value, method)
  local kind = type(value)
  if kind ~= "table" and kind ~= "userdata" then return false end
  local ok, found = pcall(function() return value[method] end)
  return ok and found ~= nil
end

--- Checks a table of options: an unknown name and a value of a wrong type are mistakes.
---@param options table?
---@param known table<string, string> types by name, alternatives separated by "|"
---@param name string of the function
---@param position? integer of the table; default 2
---@return table
function fault.options(options, known, name, position)
  if options == nil then return {} end
  fault.check(options, "table", position or 2, name)
  for key, value in pairs(options) do
    local kinds = known[key]
    if not kinds then fault.raise(string.format("'%s' has no option '%s'", name, tostring(key))) end
    if not ("|" .. kinds .. "|"):find("|" .. (math.type(value) or type(value)) .. "|", 1, true) then
      local is_float = kinds == "integer" and type(value) == "number"
      local got = is_float and fault.got(value, kinds) or fault.article(type(value))
      local wanted = fault.article((kinds:gsub("integer|float", "number"):gsub("|", " or ")))
      fault.raise(string.format("'%s': option '%s' is %s, not %s", name, key, wanted, got))
    end
  end
  return options
end

return fault
