-- What is wrong with data: the second result of `decode`, `parse` and their like, and what iterators over data raise.

---@class moonbase.Fault
---@field message string what is wrong, without the place
---@field line? integer from 1
---@field column? integer in characters, from 1
---@field offset? integer in bytes, from 1

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

--- Checks an argument of a module's function; the message blames whoever called that function.
---@param value any
---@param kind string as `type` says it
---@param position integer
---@param name string of the function
function fault.check(value, kind, position, name)
  if type(value) ~= kind then
    local got = value == nil and "no value" or type(value)
    error(string.format("bad argument #%d to '%s' (%s expected, got %s)", position, name, kind, got), 3)
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
    error(string.format("'%s': the options are a table, not a %s", name, type(options)), 3)
  end
  for key, value in pairs(options) do
    local kinds = known[key]
    if not kinds then error(string.format("'%s' has no option '%s'", name, tostring(key)), 3) end
    if not ("|" .. kinds .. "|"):find("|" .. (math.type(value) or type(value)) .. "|", 1, true) then
      error(string.format("'%s': option '%s' is a %s, not a %s", name, key, kinds:gsub("|", " or "), type(value)), 3)
    end
  end
  return options
end

return fault
