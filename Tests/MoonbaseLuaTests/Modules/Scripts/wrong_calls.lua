-- Every public function of every module, called with arguments of every wrong type: each error names the argument and
-- the function, at the line of the caller.

local modules = {}
for _, name in ipairs { "json", "csv", "text", "base64", "hex", "geometry", "color", "fault" } do
  modules[name] = require("moonbase." .. name)
end
local has_date, date = pcall(require, "moonbase.date")
if has_date then modules.date = date end
local has_import, import = pcall(require, "moonbase.import")
if has_import then modules.import = import end

local geometry, color = modules.geometry, modules.color

local samples = { string = "x", number = 0.5, table = {}, boolean = true, ["function"] = print }

-- For each function a valid call; for each argument the permitted types. "?" marks an optional argument, "any" permits
-- all types. An argument that is itself a list is written `{ value, types }`.
local calls = {
  ["json.decode"] = { { "1", "string" }, { {}, "table?" } },
  ["json.encode"] = { { 1, "any" }, { {}, "table?" } },
  ["json.lines"] = { { "1", "string function" }, { {}, "table?" }, { print, "function?" } },
  ["json.list"] = { { {}, "table" } },
  ["json.is_list"] = { { {}, "any" } },
  ["csv.decode"] = { { "a", "string" }, { {}, "table?" } },
  ["csv.rows"] = { { "a", "string function" }, { {}, "table?" } },
  ["csv.form"] = { { print, "function" } },
  ["csv.encode"] = { { {}, "table" }, { {}, "table?" } },
  ["csv.writer"] = { { print, "function" }, { {}, "table?" } },
  ["base64.encode"] = { { "a", "string" }, { {}, "table?" } },
  ["base64.decode"] = { { "", "string" }, { {}, "table?" } },
  ["hex.encode"] = { { "a", "string" }, { {}, "table?" } },
  ["hex.decode"] = { { "", "string" } },
  ["fault.new"] = { { {}, "table" } },
  ["fault.is"] = { { {}, "any" } },
  ["fault.at"] = { { "a", "string" }, { 1, "integer" }, { "m", "string" } },
  ["fault.article"] = { { "a", "string" } },
  ["color.new"] = { { 0.1, "number" }, { 0.1, "number" }, { 0.1, "number" }, { 0.1, "number?" } },
  ["color.hsl"] = { { 0.1, "number" }, { 0.1, "number" }, { 0.1, "number" }, { 0.1, "number?" } },
  ["color.parse"] = { { "red", "string" } },
  ["color.unpack"] = { { "x", "string" } },
  ["geometry.Point.new"] = { { 1, "number" }, { 1, "number" } },
  ["geometry.Size.new"] = { { 1, "number" }, { 1, "number" } },
  ["geometry.Rect.new"] = { { 1, "number" }, { 1, "number" }, { 1, "number" }, { 1, "number" } },
  ["geometry.Range.new"] = { { 1, "integer" }, { 1, "integer" } },
  ["text.lower"] = { { "a", "string" } },
  ["text.upper"] = { { "a", "string" } },
  ["text.title"] = { { "a", "string" } },
  ["text.fold"] = { { "a", "string" }, { "c", "string?" } },
  ["text.normalize"] = { { "a", "string" }, { "NFC", "string?" } },
  ["text.is_valid"] = { { "a", "string" } },
  ["text.repair"] = { { "a", "string" } },
  ["text.length"] = { { "a", "string" } },
  ["text.characters"] = { { "a", "string" } },
  ["text.sub"] = { { "a", "string" }, { 1, "number" }, { 1, "number?" } },
  ["text.reverse"] = { { "a", "string" } },
  ["text.pad_start"] = { { "a", "string" }, { 1, "integer" }, { " ", "string?" } },
  ["text.pad_end"] = { { "a", "string" }, { 1, "integer" }, { " ", "string?" } },
  ["text.compare"] = { { "a", "string" }, { "b", "string" }, { "", "string?" } },
  ["text.sort"] = { { {}, "table" }, { tostring, "function?" }, { "", "string?" } },
  ["text.equals"] = { { "a", "string" }, { "b", "string" }, { "c", "string?" } },
  ["text.contains"] = { { "a", "string" }, { "b", "string" }, { "c", "string?" } },
  ["text.starts_with"] = { { "a", "string" }, { "b", "string" }, { "c", "string?" } },
  ["text.ends_with"] = { { "a", "string" }, { "b", "string" }, { "c", "string?" } },
  ["text.trim"] = { { "a", "string" } },
  ["text.trim_start"] = { { "a", "string" } },
  ["text.trim_end"] = { { "a", "string" } },
  ["text.split"] = { { "a", "string" }, { ",", "string?" }, { {}, "table?" } },
  ["text.lines"] = { { "a", "string" } },
  ["text.replace"] = { { "a", "string" }, { "b", "string" }, { "c", "string" }, { 1, "number?" } },
  ["text.escape"] = { { "a", "string" } },
  ["text.truncate"] = { { "a", "string" }, { 1, "integer" }, { ".", "string?" } },
  ["text.is_blank"] = { { "a", "string" } },
}
for _, class in ipairs { "Point", "Size", "Rect", "Range" } do
  calls["geometry." .. class .. ".parse"] = { { "a", "string" } }
  calls["geometry." .. class .. ".from_tree"] = { { {}, "table" } }
end
for _, name in ipairs { "new", "hsl", "parse", "unpack" } do calls["color.Color." .. name] = calls["color." .. name] end
calls["color.Color.from_tree"] = { { {}, "table" } }
if has_date then
  local day = date.unix(0)
  for name, call in pairs {
    is = { { day, "any" } }, is_leap = { { 2000, "integer" } },
    days_in_month = { { 2000, "integer" }, { 1, "integer" } },
    fields = { { day, "" }, { 0, "integer?" } }, add = { { day, "" }, { {}, "table" }, { 0, "integer?" } },
    start_of = { { day, "" }, { "day", "string" }, { 0, "integer?" } }, new = { { { year = 2000 }, "table" } },
    text = { { day, "" }, { {}, "table?" } }, format = { { day, "" }, { "%Y", "string" }, { 0, "integer?" } },
    parse_duration = { { "P1D", "string" } }, unix = { { 0, "number" } }, reference = { { 0, "number" } },
    parse = { { "2000-01-01", "string" } }, now = {},
  } do calls["date." .. name] = call end
end

-- Methods: an object and the arguments.
local methods = {
  ["geometry.Point"] = { geometry.Point.new(1, 2), { distance = { { geometry.Point.new(1, 2), "" } } } },
  ["geometry.Size"] = { geometry.Size.new(1, 2), { area = {} } },
  ["geometry.Rect"] = { geometry.Rect.new(1, 2, 3, 4), {
    origin = {}, size = {}, center = {}, area = {}, is_empty = {}, contains = { { geometry.Point.new(1, 2), "" } },
    intersection = { { geometry.Rect.new(1, 2, 3, 4), "" } }, union = { { geometry.Rect.new(1, 2, 3, 4), "" } },
    offset = { { 1, "number" }, { 1, "number" } }, inset = { { 1, "number" }, { 1, "number" } },
  } },
  ["geometry.Range"] = { geometry.Range.new(1, 2), {
    stop = {}, contains = { { 1, "number" } }, intersection = { { geometry.Range.new(1, 2), "" } },
    union = { { geometry.Range.new(1, 2), "" } }, of = { { "abc", "string" } },
  } },
  ["color.Color"] = { color.new(0, 0, 0), {
    pack = {}, luminance = {}, to_hsl = {}, text = {}, contrast = { { color.new(0, 0, 0), "" } },
    mix = { { color.new(0, 0, 0), "" }, { 0.5, "number?" } }, with_alpha = { { 0.5, "number" } },
  } },
  ["csv.writer"] = { modules.csv.writer(function() end), { row = { { {}, "table" } }, finish = {} } },
}

if has_import then
  local context = { transaction = function(_, body) return true, body() end }
  calls["import.run"] =
    { { context, "table" }, { function() end, "function" }, { print, "function" }, { {}, "table?" } }
  calls["import.rejects"] = { { print, "function" }, { "x", "string function" } }
  methods["import.rejects"] = { import.rejects(print, function() end), {
    add = { { {}, "table?" }, { 1, "integer" }, { "wrong", "any" } }, close = {},
  } }
end

local of_the_host = { ["date.parse"] = true, ["date.unix"] = true, ["date.reference"] = true }

-- Internal helpers of the modules, which report wrong calls of their callers.
local of_the_house = { check = true, check_optional = true, wrong = true, wrong_self = true, raise = true,
  options = true, got = true, shown = true, has_method = true }

local function found(path)
  local value = modules
  for part in path:gmatch("[^.]+") do value = value[part] end
  return value
end

-- The defect of a call's error; nil if there is none.
local function complaint(f, arguments, count, expected)
  local ok, problem = pcall(function()
    local result = f(table.unpack(arguments, 1, count))
    return result
  end)
  problem = tostring(problem)
  if ok then return "nothing was raised" end
  if not problem:find("^wrong_calls%.lua:%d+: ") then return "no line of the caller: " .. problem end
  if not problem:find(expected, 1, true) or not problem:find("expected", 1, true) then return problem end
end

local function allows(types, kind, value)
  if types == "any" then return true end
  if kind == "nil" then return types:find("?", 1, true) ~= nil end
  for name in types:gmatch("%a+") do
    if name == kind or name == math.type(value) then return true end
  end
  return false
end

-- Tries all wrong values for each argument; for a method `object` precedes them.
local function try(failures, path, f, arguments, object)
  local name = path:match("[^.]+$")
  local first = object and 1 or 0
  local right = { object }
  for position, argument in ipairs(arguments) do right[first + position] = argument[1] end
  local kinds = { "nil" }
  for kind in pairs(samples) do kinds[#kinds + 1] = kind end
  for position, argument in ipairs(arguments) do
    for _, kind in ipairs(kinds) do
      if not allows(argument[2], kind, samples[kind]) then
        local given = table.move(right, 1, first + #arguments, 1, {})
        given[first + position] = samples[kind]
        local expected = "bad argument #" .. position .. " to '"
        local problem = complaint(f, given, first + #arguments, expected)
        -- Functions of the host have the name by which they are called.
        if not problem and not of_the_host[path] then
          problem = complaint(f, given, first + #arguments, name .. "' (")
        end
        if problem then
          failures[#failures + 1] = path .. ", argument " .. position .. " " .. kind .. ": " .. problem
        end
      end
    end
  end
  if object then
    for _, kind in ipairs(kinds) do
      local given = table.move(right, 1, first + #arguments, 1, {})
      given[1] = samples[kind]
      local problem = complaint(f, given, first + #arguments, "calling '" .. name .. "' on bad self (")
      if problem then failures[#failures + 1] = path .. ", self " .. kind .. ": " .. problem end
    end
  end
end

return {
  ["wrong arguments are told of at the caller's line"] = function()
    local failures = {}
    for path, arguments in pairs(calls) do try(failures, path, found(path), arguments) end
    for path, entry in pairs(methods) do
      local object, list = entry[1], entry[2]
      for name, arguments in pairs(list) do try(failures, path .. "." .. name, object[name], arguments, object) end
    end
    table.sort(failures)
    if #failures > 0 then error(#failures .. ": " .. table.concat(failures, "\n", 1, math.min(#failures, 40)), 0) end
  end,

  ["each function of each module is among them"] = function()
    local missing = {}
    local function look(path, value)
      local known = methods[path] and methods[path][2] or {}
      for name, inner in pairs(value) do
        local is_tried = calls[path .. "." .. name] or known[name] or path == "fault" and of_the_house[name]
        local is_called_by_lua = name:find("^__") ~= nil
        if type(inner) == "function" then
          if not (is_tried or is_called_by_lua) then missing[#missing + 1] = path .. "." .. name end
        elseif type(inner) == "table" and not is_called_by_lua then
          look(path .. "." .. name, inner)
        end
      end
    end
    for name, module in pairs(modules) do look(name, module) end
    if #missing > 0 then error("not tried: " .. table.concat(missing, ", "), 0) end
  end,

  ["elements and pieces of wrong types are told of too"] = function(t)
    local csv, json = modules.csv, modules.json
    t.raises("bad argument #1 to 'encode' (list of tables expected, got number as element 2)", csv.encode, { {}, 1 })
    t.raises("option 'columns' is a list of names, and element 1 is a table", csv.encode, {}, { columns = { {} } })
    t.raises("an iterator of lines gives text, not a number", json.lines(function() return 1 end))
    t.raises("'equals' (\"c\", \"d\" or \"cd\" expected, got \"x\")", modules.text.equals, "a", "b", "x")
  end,

  ["a method that is called with a dot says so"] = function(t)
    t.raises("calling 'luminance' on bad self (Color expected, got no value: call it with ':', not with '.')",
      color.new(0, 0, 0).luminance)
    t.raises("calling 'offset' on bad self (Rect expected, got a number: call it with ':', not with '.')",
      geometry.Rect.new(1, 2, 3, 4).offset, 1, 2)
  end,
}
