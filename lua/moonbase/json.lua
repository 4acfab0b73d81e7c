-- JSON (RFC 8259). Integers stay 64-bit integers, null is `moonbase.null`, an empty list stays a list.

local _, host = ...
local fault = require "moonbase.fault"
local writer = require "moonbase.json_writer"

local byte, find, sub = string.byte, string.find, string.sub
local concat, tonumber, numbertype = table.concat, tonumber, math.type
local null, mark = host.null, host.list

local json = {
  --- The value of JSON's null, in reading and writing: `moonbase.null`.
  null = null,
}

-- Reading ------------------------------------------------------------------------------------------------------

-- Raised and caught within `decode`: an offset and a message.
local function refuse(offset, message) error({ offset = offset, message = message }, 0) end

local function found(text, at)
  if at > #text then return "the text ends" end
  local stop = utf8.offset(text, 2, at)
  local what = sub(text, at, stop and stop - 1 or at)
  return find(what, "^%c") and string.format("found character %d", byte(what)) or "found '" .. what .. "'"
end

local escapes = {
  [34] = '"', [92] = "\\", [47] = "/", [98] = "\b", [102] = "\f", [110] = "\n", [114] = "\r", [116] = "\t",
}

-- The character of an escape such as `\u00e9`, whose backslash is at `at`, and the offset after the escape.
local function unicode(text, at)
  local first, last, digits = find(text, "^\\u(%x%x%x%x)", at)
  if not first then refuse(at, "'\\u' needs four hexadecimal digits") end
  local code = tonumber(digits, 16)
  if code >= 0xDC00 and code <= 0xDFFF then
    refuse(at, "'\\u" .. digits .. "' is half a character: its first half is missing")
  end
  if code >= 0xD800 and code <= 0xDBFF then
    local _, stop, low = find(text, "^\\u(%x%x%x%x)", last + 1)
    local second = low and tonumber(low, 16) or 0
    if second < 0xDC00 or second > 0xDFFF then
      refuse(at, "'\\u" .. digits .. "' is half a character: its second half is missing")
    end
    code, last = 0x10000 + (code - 0xD800) * 0x400 + second - 0xDC00, stop
  end
  return utf8.char(code), last + 1
end

-- A string with escapes: its parts, joined once.
local function escaped(text, start, at)
  local parts, count, from = {}, 0, start + 1
  while true do
    local letter = byte(text, at)
    if letter == 34 or not letter then
      if not letter then refuse(start, "the string does not end") end
      parts[count + 1] = sub(text, from, at - 1)
      return concat(parts), at + 1
    end
    if letter ~= 92 then refuse(at, string.format("character %d must be escaped in a string", letter)) end
    local kind = byte(text, at + 1)
    local piece, next_at
    if kind == 117 then
      piece, next_at = unicode(text, at)
    else
      piece, next_at = escapes[kind], at + 2
      if not piece then refuse(at, "'\\' is followed by none of \" \\ / b f n r t u") end
    end
    parts[count + 1], parts[count + 2] = sub(text, from, at - 1), piece
    count, from = count + 2, next_at
    at = find(text, '["\\\0-\31]', next_at) or #text + 1
  end
end

local function string_at(text, start)
  local at = find(text, '["\\\0-\31]', start + 1)
  if at and byte(text, at) == 34 then return sub(text, start + 1, at - 1), at + 1 end
  return escaped(text, start, at or #text + 1)
end

local function big(digits, at, options)
  if options.big == "number" then
    local number = tonumber(digits .. ".0")
    if number - number == 0 then return number end
  end
  if options.big == "text" then return digits end
  refuse(at, "the integer does not fit 64 bits (option big = \"number\" or \"text\" takes it)")
end

local function number_at(text, at, options)
  local _, last = find(text, "^-?%d+", at)
  if not last then refuse(at, "a digit is missing after '-'") end
  local negative = byte(text, at) == 45
  if byte(text, negative and at + 1 or at) == 48 and last > (negative and at + 1 or at) then
    refuse(at, "a number does not begin with 0")
  end
  local mark_at = byte(text, last + 1)
  if mark_at ~= 46 and mark_at ~= 69 and mark_at ~= 101 then
    local digits = sub(text, at, last)
    local number = tonumber(digits)
    if numbertype(number) == "integer" then
      if number == 0 and negative then return -0.0, last + 1 end
      return number, last + 1
    end
    return big(digits, at, options), last + 1
  end
  if mark_at == 46 then
    _, last = find(text, "^%d+", last + 2)
    if not last then refuse(at, "a digit is missing after '.'") end
    mark_at = byte(text, last + 1)
  end
  if mark_at == 69 or mark_at == 101 then
    _, last = find(text, "^[+-]?%d+", last + 2)
    if not last then refuse(at, "the exponent has no digit") end
  end
  local number = tonumber(sub(text, at, last))
  if number - number ~= 0 then refuse(at, "the number is too large") end
  return number, last + 1
end

-- The position and byte of the next character that is not white space.
local function skip(text, at)
  local letter = byte(text, at)
  if letter == 32 or letter == 10 or letter == 13 or letter == 9 then
    at = find(text, "[^ \n\r\t]", at + 1) or #text + 1
    letter = byte(text, at)
  end
  return at, letter
end

local value_at

local function list_at(text, start, depth, options)
  local list, count = {}, 0
  local at, letter = skip(text, start + 1)
  -- Only an empty list could be taken for an object.
  if letter == 93 then return mark(list), at + 1 end
  while true do
    count = count + 1
    list[count], at = value_at(text, at, letter, depth, options)
    at, letter = skip(text, at)
    if letter == 44 then
      at, letter = skip(text, at + 1)
    elseif letter == 93 then
      return list, at + 1
    else
      refuse(at, "',' or ']' is expected, " .. found(text, at))
    end
  end
end

local function object_at(text, start, depth, options)
  local object = {}
  local at, letter = skip(text, start + 1)
  if letter == 125 then return object, at + 1 end
  while true do
    if letter ~= 34 then refuse(at, "a name in quotes is expected, " .. found(text, at)) end
    local key_at = at
    local key, after = string_at(text, at)
    at = after
    if object[key] ~= nil then refuse(key_at, string.format("the name %q comes twice", key)) end
    at, letter = skip(text, at)
    if letter ~= 58 then refuse(at, "':' is expected, " .. found(text, at)) end
    at, letter = skip(text, at + 1)
    object[key], at = value_at(text, at, letter, depth, options)
    at, letter = skip(text, at)
    if letter == 44 then
      at, letter = skip(text, at + 1)
    elseif letter == 125 then
      return object, at + 1
    else
      refuse(at, "',' or '}' is expected, " .. found(text, at))
    end
  end
end

local words = { [116] = { "true", true }, [102] = { "false", false }, [110] = { "null", null } }

function value_at(text, at, letter, depth, options)
  if letter == 34 then return string_at(text, at) end
  if letter == 123 or letter == 91 then
    if depth >= options.max_depth then refuse(at, "more than " .. options.max_depth .. " levels") end
    return (letter == 123 and object_at or list_at)(text, at, depth + 1, options)
  end
  local word = words[letter]
  if word and sub(text, at, at + #word[1] - 1) == word[1] then return word[2], at + #word[1] end
  if letter == 45 or letter and letter >= 48 and letter <= 57 then return number_at(text, at, options) end
  refuse(at, "a value is expected, " .. found(text, at))
end

---@class moonbase.JSONReadOptions
---@field max_depth? integer the maximum nesting of lists and objects; default 512
---@field big? "error"|"number"|"text" the treatment of an integer beyond 64 bits; default "error"

local read_options = { max_depth = "integer", big = "string" }
local whole_text = "^\xEF\xBB\xBF"

local function checked(options, caller)
  options = fault.options(options, read_options, caller)
  local kind = options.big or "error"
  if kind ~= "error" and kind ~= "number" and kind ~= "text" then
    fault.raise("'" .. caller .. "': option 'big' is \"error\", \"number\" or \"text\"")
  end
  local depth = options.max_depth or 512
  if depth < 1 or depth > 10000 then fault.raise("'" .. caller .. "': option 'max_depth' is 1 to 10000") end
  return { max_depth = depth, big = kind }
end

local function read(text, options)
  local valid, bad = utf8.len(text)
  if not valid then refuse(bad, "the text is not UTF-8") end
  local _, mark_end = find(text, whole_text)
  local at, letter = skip(text, (mark_end or 0) + 1)
  local value
  value, at = value_at(text, at, letter, 0, options)
  at = skip(text, at)
  if at <= #text then refuse(at, "nothing may follow the value, " .. found(text, at)) end
  return value
end

local function try(text, options)
  local ok, value = pcall(read, text, options)
  if ok then return value end
  if type(value) ~= "table" or not value.offset then error(value, 0) end
  return nil, fault.at(text, value.offset, value.message)
end

--- The value of a JSON text, or nil and a fault.
---
--- Objects become tables, lists become lists (even empty ones), null becomes `json.null`, and numbers without point and
--- exponent become integers. Duplicate names, lone surrogates, and any syntax outside of the standard are faults with
--- line and column.
---@param text string
---@param options? moonbase.JSONReadOptions
---@return any value
---@return moonbase.Fault? fault
function json.decode(text, options)
  fault.check(text, "string", 1, "decode")
  return try(text, checked(options, "decode"))
end

--- Iterates over the lines of a text, an open file or an iterator of lines: a JSON value each, with its line number.
--- Empty lines are passed over. A faulty line is raised as a fault; with `on_fault` it is handed to that function and
--- passed over.
---
--- ```lua
--- for value, line in json.lines(assert(io.open("log.ndjson"))) do ... end
--- ```
---@param source string|file*|fun(): string?
---@param options? moonbase.JSONReadOptions
---@param on_fault? fun(fault: moonbase.Fault)
---@return fun(): any, integer
function json.lines(source, options, on_fault)
  local given = options
  if source ~= nil then options = checked(options, "lines") end
  local next_line = source
  if type(source) == "string" then
    next_line = source:gmatch("([^\n]*)\n?")
  elseif type(source) ~= "function" then
    if source == nil then
      local why = type(given) == "string" and ": " .. given or ""
      fault.raise(
        "bad argument #1 to 'lines' (text, open file or iterator of lines expected, got no value" .. why .. ")")
    end
    if not fault.has_method(source, "lines") then
      fault.wrong(source, "text, open file or iterator of lines", 1, "lines")
    end
    next_line = source:lines()
  end
  fault.check_optional(on_fault, "function", 3, "lines")
  local number = 0
  return function()
    for line in next_line do
      number = number + 1
      if type(line) ~= "string" then
        fault.raise("an iterator of lines gives text, not " .. fault.article(type(line)))
      end
      if find(line, "%S") then
        local value, problem = try(line, options)
        if not problem then return value, number end
        problem.line, problem.record = number, line
        if not on_fault then error(problem, 0) end
        on_fault(problem)
      end
    end
  end
end

-- Writing ------------------------------------------------------------------------------------------------------

--- The JSON text of a value. Raises for values without a JSON form: functions, NaN and infinities, strings that are not
--- UTF-8, tables with holes or with keys of several kinds, and tables within themselves.
---
--- Names are sorted, so that equal values give equal texts. Dates, decimals, UUIDs, URIs and object IDs are written as
--- texts. A metatable's `__tojson(value)` returns a value to write instead.
---@param value any
---@param options? moonbase.JSONWriteOptions
---@return string
function json.encode(value, options) return writer.encode(value, options) end

--- Marks a table as a list, so that it is written as `[]` even when empty.
---@generic T
---@param list T
---@return T
function json.list(list)
  fault.check(list, "table", 1, "list")
  return mark(list)
end

--- Whether a table is written as a list.
---@param value any
---@return boolean
function json.is_list(value) return type(value) == "table" and (host.is_list(value) or #value > 0) end

return json
