-- The writer of `moonbase.json`; scripts use it through `json.encode`.

local _, host = ...
local fault = require "moonbase.fault"

local find, format, gsub, rep = string.find, string.format, string.gsub, string.rep
local concat, sort, next, pairs, type, tostring = table.concat, table.sort, next, pairs, type, tostring
local numbertype, tonumber = math.type, tonumber
local null = host.null

---@class moonbase.JSONWriteOptions
---@field indent? integer|string the spaces or the text of one level; without it the text is a single line
---@field sort? boolean whether names are sorted; default true
---@field max_depth? integer the maximum nesting of tables; default 512

local write_options = { indent = "integer|string", sort = "boolean", max_depth = "integer" }

local escapes = { ['"'] = '\\"', ["\\"] = "\\\\", ["\b"] = "\\b", ["\f"] = "\\f", ["\n"] = "\\n", ["\r"] = "\\r",
  ["\t"] = "\\t" }
for code = 0, 31 do
  local letter = string.char(code)
  escapes[letter] = escapes[letter] or format("\\u%04x", code)
end

-- Raised within `encode`, with the path to the value within the whole.
local function refuse(out, message)
  local path = {}
  for level = 1, out.depth do
    if out.path[level] ~= "" then path[#path + 1] = string.sub(out.path[level], 1, 40) end
  end
  -- A long path is shown by its ends.
  if #path > 8 then path = { concat(path, ".", 1, 4) .. " … " .. concat(path, ".", #path - 2) } end
  error({ message = (path[1] and concat(path, ".") .. ": " or "") .. message, refused = true }, 0)
end

local function quoted(out, text)
  if not utf8.len(text) then refuse(out, "the string is not UTF-8: encode bytes with moonbase.base64") end
  if find(text, '["\\\0-\31]') then text = gsub(text, '["\\\0-\31]', escapes) end
  return '"' .. text .. '"'
end

-- The shortest text that reads as the same number; a float keeps its point, so that it is read as a float.
local function number_text(out, number)
  if numbertype(number) == "integer" then return format("%d", number) end
  if number - number ~= 0 then refuse(out, "JSON has no " .. (number ~= number and "NaN" or "infinity")) end
  local text = format("%.15g", number)
  if tonumber(text) ~= number then
    text = format("%.16g", number)
    if tonumber(text) ~= number then text = format("%.17g", number) end
  end
  return find(text, "[.e]") and text or text .. ".0"
end

local write

local function add(out, text)
  local count = out.count + 1
  out.count = count
  out[count] = text
end

local function write_list(out, list, length)
  if length == 0 then return add(out, "[]") end
  local depth = out.depth
  local between = out.indent and ",\n" .. rep(out.indent, depth) or ","
  add(out, out.indent and "[\n" .. rep(out.indent, depth) or "[")
  for index = 1, length do
    if index > 1 then add(out, between) end
    out.path[depth] = index
    write(out, list[index])
  end
  add(out, out.indent and "\n" .. rep(out.indent, depth - 1) .. "]" or "]")
end

-- A name in the form that precedes its value. Names repeat, so some are cached.
local function head_of(out, name)
  local head = quoted(out, name) .. (out.indent and ": " or ":")
  if out.head_count < 1000 then
    out.heads[name], out.head_count = head, out.head_count + 1
  end
  return head
end

local function write_object(out, object, names)
  if #names == 0 then return add(out, "{}") end
  local depth = out.depth
  local between = out.indent and ",\n" .. rep(out.indent, depth) or ","
  if out.sort and #names > 1 then sort(names) end
  add(out, out.indent and "{\n" .. rep(out.indent, depth) or "{")
  for index = 1, #names do
    local name = names[index]
    out.path[depth] = name
    local head = out.heads[name] or head_of(out, name)
    add(out, index > 1 and between .. head or head)
    write(out, object[name])
  end
  add(out, out.indent and "\n" .. rep(out.indent, depth - 1) .. "}" or "}")
end

-- Whether all keys of a table with a field `n` are from 1 to n.
local function fits(n, walk, state)
  for key in walk, state do
    if key ~= "n" and not (key >= 1 and key <= n) then return false end
  end
  return true
end

-- The names of a table that is no list, or the number of its elements.
local function shape(out, object, walk, state)
  local length, count, names = #object, 0, {}
  local numbers = false
  for key in walk, state do
    count = count + 1
    if type(key) == "string" then
      names[#names + 1] = key
    elseif numbertype(key) == "integer" then
      numbers = true
    else
      refuse(out, "a key is " .. fault.article(type(key)) .. "; JSON has names and list elements only")
    end
  end
  if not numbers and count == 1 and numbertype(object.n) == "integer" and host.is_list(object) then
    return nil, object.n
  end
  if not numbers then return (count > 0 or not host.is_list(object)) and names or nil, 0 end
  if #names > 0 then
    -- A list from `table.pack`, or a row of `moonbase.csv`: `n` is the length, and missing elements are null.
    local n = #names == 1 and names[1] == "n" and object.n
    if numbertype(n) == "integer" and fits(n, walk, state) then return nil, n end
    refuse(out, "a table with list elements and names is neither a list nor an object")
  end
  if count ~= length then refuse(out, "a list has holes: put json.null there, or use text for names") end
  for index = 1, length do
    if object[index] == nil then refuse(out, "a list has holes: put json.null there, or use text for names") end
  end
  return nil, length
end

local function write_table(out, object)
  if out.within[object] then refuse(out, "a table contains itself") end
  if out.depth >= out.max_depth then refuse(out, "more than " .. out.max_depth .. " levels") end
  local metatable = getmetatable(object)
  local convert = type(metatable) == "table" and metatable.__tojson
  out.within[object] = true
  out.depth = out.depth + 1
  out.path[out.depth] = ""
  if convert then
    local value = convert(object)
    if rawequal(value, object) then refuse(out, "__tojson gives the table itself") end
    write(out, value)
  else
    local walk, state = next, object
    if metatable ~= nil then walk, state = pairs(object) end
    local names, length = shape(out, object, walk, state)
    if names then write_object(out, object, names) else write_list(out, object, length) end
  end
  out.depth = out.depth - 1
  out.within[object] = nil
end

function write(out, value)
  local kind = type(value)
  if kind == "string" then
    add(out, quoted(out, value))
  elseif kind == "number" then
    add(out, number_text(out, value))
  elseif kind == "boolean" then
    add(out, value and "true" or "false")
  elseif value == null or value == nil then
    add(out, "null")
  elseif kind == "table" then
    write_table(out, value)
  elseif host.is_text(value) then
    add(out, quoted(out, tostring(value)))
  else
    refuse(out, "JSON has no form for " .. fault.article(host.type(value)))
  end
end

local function encode(value, options)
  options = fault.options(options, write_options, "encode")
  local indent = options.indent
  if numbertype(indent) == "integer" then
    if indent < 0 or indent > 16 then fault.raise("'encode': option 'indent' is 0 to 16 spaces") end
    indent = rep(" ", indent)
  elseif indent and (find(indent, "[^ \t]") or #indent > 16) then
    fault.raise("'encode': option 'indent' is white space")
  end
  local out = {
    count = 0, heads = {}, head_count = 0, depth = 0, path = {}, within = {}, indent = indent,
    sort = options.sort ~= false,
    max_depth = options.max_depth or 512,
  }
  local ok, problem = pcall(write, out, value)
  if ok then return concat(out, "", 1, out.count) end
  if type(problem) == "table" and problem.refused then fault.raise("cannot encode as JSON: " .. problem.message) end
  error(problem, 0)
end

return { encode = encode, number_text = number_text }
