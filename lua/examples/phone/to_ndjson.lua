-- Writes all objects of a store from a phone as JSON: a file for each entity, an object a line.
--
--   scripts/moonbase run --store app.sqlite --read-only lua/examples/phone/to_ndjson.lua [FOLDER]
--
-- No model is needed, for the store keeps its own. The files go into the current folder, or a folder below it that is
-- there. A value that an app archived in a transformable attribute is written as far as it has a form in JSON.
-- (`moonbase export --all` keeps everything.)

local json, base64 = require "moonbase.json", require "moonbase.base64"

local context, model = moonbase.context, moonbase.model
if not context then
  io.stderr:write("usage: moonbase run --store app.sqlite --read-only to_ndjson.lua [FOLDER]\n")
  os.exit(2)
end
local folder = arg[1] or "."

--- A value in a form that JSON has: bytes as base64, dates and their like as text.
local function plain(value, kind)
  if value == nil then return json.null end
  if type(value) == "string" and (kind == "binary" or not utf8.len(value)) then return base64.encode(value) end
  if type(value) == "number" and (value ~= value or value == math.huge or value == -math.huge) then return json.null end
  if type(value) == "userdata" then return tostring(value) end
  if type(value) == "table" and not pcall(json.encode, value) then return tostring(value) end
  return value
end

local function uris(list)
  local result = json.list {}
  for destination in list:each() do result[#result + 1] = tostring(destination:id()) end
  return result
end

local function record(object, entity)
  local line = { _id = tostring(moonbase.object.id(object)) }
  for name, attribute in pairs(entity.attributes) do
    if not attribute.transient then
      local is_read, value = pcall(function() return object[name] end)
      if is_read then
        line[name] = plain(value, attribute.type)
      else
        io.stderr:write(("%s.%s of %s: %s\n"):format(entity.name, name, line._id, tostring(value)))
      end
    end
  end
  for name, relationship in pairs(entity.relationships) do
    local value = object[name]
    if relationship.to_many then
      line[name] = uris(value)
    else
      line[name] = value and tostring(moonbase.object.id(value)) or json.null
    end
  end
  return line
end

for name, entity in pairs(model.entities) do
  local output, count
  for object in context:fetch(name):subentities(false):each() do
    if not output then output, count = assert(io.open(folder .. "/" .. name .. ".ndjson", "w")), 0 end
    output:write(json.encode(record(object, entity)), "\n")
    count = count + 1
  end
  if output then
    output:close()
    print(("%-30s %6d"):format(name, count))
  end
end
