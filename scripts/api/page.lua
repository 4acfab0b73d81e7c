-- Prints docs/script-api.md, made of lua/types, and runs the examples there. scripts/script-api calls it so:
--
--   moonbase run --store people.sqlite --model model.lua --keep-history page.lua FOLDER-OF-TYPES
local types = arg[1]

local preface = [[
# The script API

Every name that a script, a model file or an extension file may use, with an example. `scripts/script-api` makes
the page of [lua/types](../lua/types). Editors read these files too. Each example runs in the tests, and prints what
stands behind `-->`.

The examples have a `context` with two people of one department:

```lua
local tools = context:insert("Department", { name = "Tools" })
local ann = context:insert("Person", { name = "Ann", age = 31, email = "ann@example.org", department = tools })
local ben = context:insert("Person", { name = "Ben", age = 28, department = tools })
ann.friends:add(ben)
ann.tags = { "a" }
ann.tasks = { context:insert("Task", { title = "plan" }), context:insert("Task", { title = "build" }) }
assert(context:save())
```

A type with `?` may be nil. `T[]` is a list of `T`, `table<K, V>` a table from `K` to `V`, and `fun(...)` a function.
]]

-- Reading ------------------------------------------------------------------------------------------------------

local function lines_of(name)
  local file = assert(io.open(types .. "/" .. name .. ".lua"))
  local text = file:read("a")
  file:close()
  return text:gmatch("([^\n]*)\n")
end

--- Classes with their fields and functions, and aliases, in the order of a file.
local function read(name)
  local items, by_variable, class = {}, {}, nil
  local text, example, parameters, in_code
  local function begin() text, example, parameters, in_code = {}, {}, {}, false end
  begin()
  for line in lines_of(name) do
    local comment = line:match("^%-%-%-([^@|].*)$") or (line == "---" and "")
    if comment then
      if comment:find("^```") then
        in_code = not in_code
      else
        local into = in_code and example or text
        into[#into + 1] = comment
      end
    elseif line:find("^%-%-%-@class") then
      local title, parent = line:match("^%-%-%-@class ([%w_.]+):? ?(%S*)")
      class = { kind = "class", name = title, parent = parent, text = text, example = example }
      class.fields, class.functions = {}, {}
      items[#items + 1] = class
      by_variable[title:match("[^.]+$")] = class
      begin()
    elseif line:find("^%-%-%-@field") then
      local field, rest = line:match("^%-%-%-@field (%S+) (.*)$")
      class.fields[#class.fields + 1] = { name = field, rest = rest }
    elseif line:find("^%-%-%-@alias") then
      local title, rest = line:match("^%-%-%-@alias (%S+) ?(.*)$")
      items[#items + 1] = { kind = "alias", name = title, text = text, type = rest }
      begin()
    elseif line:find("^%-%-%-| ") then
      local alias = items[#items]
      alias.type = alias.type .. (alias.type == "" and "" or " | ") .. line:match("^%-%-%-| (.-)%s*$"):gsub(" # ", " ")
    elseif line:find("^%-%-%-@") then
      parameters[#parameters + 1] = line:sub(4)
    elseif line:find("^function ") then
      local variable, mark, title, arguments = line:match("^function ([%w_]+)([.:])([%w_]+)%((.-)%)")
      local owner = assert(by_variable[variable] or class, line)
      if variable == "Object" then owner = by_variable.ObjectMethods end
      owner.functions[#owner.functions + 1] = {
        name = title, mark = mark, arguments = arguments, text = text, example = example, parameters = parameters,
      }
      begin()
    elseif line:find("^local ") or not line:find("^%-%-") then
      begin()
    end
  end
  return items
end

-- Running ------------------------------------------------------------------------------------------------------

--- A context as the page says, with nothing of an example before.
local function prepare()
  local context = moonbase.open { store = "people.sqlite" }.context
  for _, entity in ipairs { "Task", "Person", "Department" } do
    for object in context:fetch(entity):each() do context:delete(object) end
  end
  assert(context:save())
  local tools = context:insert("Department", { name = "Tools" })
  local ann = context:insert("Person", { name = "Ann", age = 31, email = "ann@example.org", department = tools })
  local ben = context:insert("Person", { name = "Ben", age = 28, department = tools })
  ann.friends:add(ben)
  ann.tags = { "a" }
  ann.tasks = { context:insert("Task", { title = "plan" }), context:insert("Task", { title = "build" }) }
  assert(context:save())
  return { context = context, tools = tools, ann = ann, ben = ben }
end

local function squeezed(text) return (text:gsub("%s+", " "):gsub("^ ", ""):gsub(" $", "")) end

--- Runs an example, and raises where it prints something else than it says.
local function try(name, example)
  local expected, printed = {}, {}
  for _, line in ipairs(example) do
    local output = line:match("%-%->(.*)$")
    if output then expected[#expected + 1] = squeezed(output) end
  end
  local world = prepare()
  function world.print(...)
    local values = table.pack(...)
    for index = 1, values.n do values[index] = tostring(values[index]) end
    printed[#printed + 1] = squeezed(table.concat(values, " "))
  end
  local chunk = assert(load(table.concat(example, "\n"), "=" .. name, "t", setmetatable(world, { __index = _G })))
  local context = world.context
  local done, err = pcall(chunk)
  -- What closing the context causes in observers is not the example's.
  world.print = function() end
  pcall(context.close, context)
  if not done then error(("%s: %s"):format(name, tostring(err)), 0) end
  local one, other = table.concat(expected, "\n"), table.concat(printed, "\n")
  if one ~= other then error(("%s prints\n%s\nand says\n%s"):format(name, other, one), 0) end
end

-- Writing ------------------------------------------------------------------------------------------------------

local mistakes = {}
local function check(isRight, message) if not isRight then mistakes[#mistakes + 1] = message end end

local function escaped(text) return (text:gsub("|", "\\|")) end

--- A type at the beginning of a text, and the text behind it.
local function divided(text)
  local depth, index = 0, 1
  while index <= #text do
    local letter = text:sub(index, index)
    if letter:find("[<({]") then depth = depth + 1 end
    if letter:find("[>)}]") then depth = depth - 1 end
    local is_open = letter == " " and text:sub(index - 1, index - 1):find("[:,|]")
    if letter == " " and depth == 0 and not is_open then return text:sub(1, index - 1), text:sub(index + 1) end
    index = index + 1
  end
  return text, ""
end

local function short(kind) return (kind:gsub("moonbase%.", "")) end

local function code(example)
  if #example == 0 then return end
  print("\n```lua\n" .. table.concat(example, "\n") .. "\n```")
end

--- Words in lines of 140 letters.
local function paragraph(text)
  local line = ""
  for word in text:gmatch("%S+") do
    if #line + #word + 1 > 140 then
      print(line)
      line = word
    else
      line = line == "" and word or line .. " " .. word
    end
  end
  print(line)
end

local modules = { DateModule = "moonbase.date", DecimalModule = "moonbase.decimal", UUIDModule = "moonbase.uuid",
  URIModule = "moonbase.uri", ToMany = "list", ObjectMethods = "object", ObjectID = "id" }

local function write_function(class, item)
  local owner = modules[class] or class == "moonbase" and "moonbase" or class:gsub("^%u+", string.lower)
  local title = ("%s%s%s(%s)"):format(owner, item.mark, item.name, item.arguments)
  print("\n### " .. title .. "\n")
  check(#item.text > 0, title .. " has no sentence")
  check(#item.example > 0, title .. " has no example")
  paragraph(table.concat(item.text, " "))
  local notes = {}
  for _, line in ipairs(item.parameters) do
    local name, rest = line:match("^@param (%S+) (.*)$")
    local result = line:match("^@return (.*)$")
    if name then
      local kind, meaning = divided(rest)
      notes[#notes + 1] = ("- `%s`: `%s`%s"):format(name, short(kind), meaning ~= "" and ", " .. meaning or "")
    elseif result then
      local kind, meaning = divided(result)
      notes[#notes + 1] = ("- returns `%s`%s"):format(short(kind), meaning ~= "" and ": " .. meaning or "")
    end
  end
  if #notes > 0 then print("\n" .. table.concat(notes, "\n")) end
  code(item.example)
end

local function write_class(class, examples)
  local name = class.name:match("[^.]+$")
  if #class.fields == 0 and #class.functions == 0 then return end
  print("\n## " .. (name == "ObjectMethods" and "Methods of objects" or name) .. "\n")
  if #class.text > 0 then paragraph(table.concat(class.text, " ")) end
  if class.parent ~= "" then print(("\nIt has what `%s` has, and:"):format(short(class.parent))) end
  if #class.fields > 0 then
    print("\n| field | type | meaning |\n|---|---|---|")
    for _, field in ipairs(class.fields) do
      local kind, meaning = divided(field.rest)
      print(("| `%s` | `%s` | %s |"):format(escaped(field.name), escaped(short(kind)), escaped(meaning)))
      local word = field.name:gsub("%?$", "")
      check(not examples or word:find("^%[") or examples:find("%f[%w_]" .. word .. "%f[^%w_]"),
        ("%s.%s is in no example"):format(name, word))
    end
  end
  code(class.example)
  for _, item in ipairs(class.functions) do write_function(name, item) end
end

--- All examples of a file.
local function examples_of(items)
  local lines = {}
  for _, item in ipairs(items) do
    table.move(item.example or {}, 1, #(item.example or {}), #lines + 1, lines)
    for _, member in ipairs(item.functions or {}) do
      table.move(member.example, 1, #member.example, #lines + 1, lines)
    end
  end
  return table.concat(lines, "\n")
end

--- Files of types in the order of the page, with the page that shows what they describe.
local files = {
  { "moonbase" }, { "context" }, { "request" }, { "object" }, { "values" }, { "model_info" },
  { "model", "Model files are explained in [models](models.md)." },
  { "extension", "Extension files are explained in [extensions](extensions.md)." },
  { "import", "Import maps are shown in [scripting](scripting.md#import-maps)." },
  { "batch", "Batch jobs are shown in [scripting](scripting.md#batch-jobs)." },
  { "migration", "Migration scripts are shown in [scripting](scripting.md#migration-scripts)." },
  { "test", "Tests are shown in [scripting](scripting.md#tests-and-messages)." },
}

print(preface)
print("| file | classes |\n|---|---|")
local read_files, aliases = {}, {}
for _, file in ipairs(files) do
  local items, names = read(file[1]), {}
  read_files[file[1]] = items
  for _, item in ipairs(items) do
    if item.kind == "alias" then
      aliases[#aliases + 1] = item
    elseif #item.fields + #item.functions > 0 then
      local name = item.name:match("[^.]+$")
      local heading = name == "ObjectMethods" and "Methods of objects" or name
      names[#names + 1] = ("[%s](#%s)"):format(heading, heading:lower():gsub(" ", "-"))
    end
  end
  print(("| `%s.lua` | %s |"):format(file[1], table.concat(names, ", ")))
end
for _, file in ipairs(files) do
  for index, item in ipairs(read_files[file[1]]) do
    if item.kind == "class" then
      if file[2] and index >= 1 and not file.is_said then
        print("\n" .. file[2])
        file.is_said = true
      end
      write_class(item, not file[2] and examples_of(read_files[file[1]]))
      if #item.example > 0 then
        local done, err = pcall(try, item.name, item.example)
        check(done, err)
      end
      for _, member in ipairs(item.functions) do
        if #member.example > 0 then
          local done, err = pcall(try, item.name .. "." .. member.name, member.example)
          check(done, err)
        end
      end
    end
  end
end

print("\n## Names of types\n\n| name | stands for | meaning |\n|---|---|---|")
for _, alias in ipairs(aliases) do
  local meaning = escaped(table.concat(alias.text, " "))
  print(("| `%s` | `%s` | %s |"):format(short(alias.name), escaped(short(alias.type)), meaning))
end
if #mistakes > 0 then
  for _, mistake in ipairs(mistakes) do io.stderr:write(mistake, "\n") end
  os.exit(1)
end
