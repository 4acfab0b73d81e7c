-- What is wrong with data: the second result of `decode`, `parse` and their like, and what iterators over data raise.

---@class moonbase.Fault
---@field message string what is wrong, without the place
---@field line? integer from 1
---@field column? integer in characters, from 1
---@field offset? integer in bytes, from 1

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

--- Makes a fault; `tostring` gives place and message.
---@param fields moonbase.Fault
---@return moonbase.Fault
function fault.new(fields) return setmetatable(fields, Fault) end

--- Whether a value is a fault.
---@param value any
---@return boolean
function fault.is(value) return type(value) == "table" and getmetatable(value) == "moonbase.fault" end

--- The fault of a place in a text: its line and column are counted.
---@param text string
---@param offset integer in bytes, from 1
---@param message string
---@return moonbase.Fault
function fault.at(text, offset, message)
  local line, start = 1, 1
  while true do
    local feed = text:find("\n", start, true)
    if not feed or feed >= offset then break end
    line, start = line + 1, feed + 1
  end
  local column = offset > start and utf8.len(text, start, math.min(offset - 1, #text), true) or offset - start
  return fault.new { message = message, line = line, column = (column or 0) + 1, offset = offset }
end

--- Raises the error of a wrong call. It blames the script that called, however deep within the modules it is noticed.
---@param message string
function fault.raise(message) error(host.place() .. message, 0) end

--- The name of a kind with its article: "a string", "an integer".
---@param kind string
---@return string
function fault.article(kind) return (kind:find("^[aeiou]") and "an " or "a ") .. kind end

--- What a value is, for a message: its type, or itself where it is a number of the wrong kind.
---@param value any
---@param wanted? string
---@return string
function fault.got(value, wanted)
  if value == nil then return "no value" end
  if value ~= value then return "NaN" end
  if wanted == "integer" and math.type(value) == "float" then return string.format("%.14g, which is a float", value) end
  return type(value)
end

--- A value as a message shows it: numbers as they are, of all else the type.
---@param value any
---@return string
function fault.shown(value)
  if value == value and math.type(value) then return tostring(value) end
  return fault.got(value)
end

--- Checks an argument of a module's function; the message blames the caller of that function.
---@param value any
---@param kind string as `type` says it, or "integer"
---@param position integer
---@param name string of the function
function fault.check(value, kind, position, name)
  if type(value) ~= kind and (kind ~= "integer" or math.type(value) ~= kind) then
    fault.raise(string.format(
      "bad argument #%d to '%s' (%s expected, got %s)", position, name, kind, fault.got(value, kind)))
  end
end

--- Checks a table of options: a name that is not known is a mistake, and so is a value of a wrong type.
---@param options table?
---@param known table<string, string> types by name, several divided by "|"
---@param name string of the function
---@return table
function fault.options(options, known, name)
  if options == nil then return {} end
  if type(options) ~= "table" then
    fault.raise(string.format("'%s': the options are a table, not %s", name, fault.article(type(options))))
  end
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
