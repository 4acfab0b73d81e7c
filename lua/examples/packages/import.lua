-- Imports Debian's package index and asks it three questions:
--
--   apt-cache dumpavail | scripts/moonbase run lua/examples/packages/import.lua -
--   scripts/moonbase run lua/examples/packages/import.lua FILE
--
-- It writes moonbase-packages.sqlite into the current folder; run again, it brings that store up to date.

local here = arg[0]:match("^(.*)/[^/]*$") or "."
local store_path = "moonbase-packages.sqlite"

local input, source
if arg[1] == "-" then
  input, source = io.stdin, "standard input"
elseif arg[1] then
  local problem
  input, problem = io.open(arg[1])
  source = arg[1]
  if not input then
    io.stderr:write(problem, "\n")
    os.exit(1)
  end
else
  io.stderr:write("usage: import.lua FILE, or - for standard input (try: apt-cache dumpavail | ... import.lua -)\n")
  os.exit(2)
end

local context = moonbase.open {
  store = store_path,
  model = here .. "/model.lua",
  extensions = { here .. "/extension.lua" },
}.context
local DebianVersion = moonbase.classes.DebianVersion

-- Reading: a record at a time, so that the text never stands in memory as a whole ------------------------------

--- The fields that are wanted, each as its first line: lines that begin with white space go on with the field before.
local function fields_of(text)
  return {
    Package = text:match("\nPackage: ?([^\n]*)\n"),
    Version = text:match("\nVersion: ?([^\n]*)\n"),
    Architecture = text:match("\nArchitecture: ?([^\n]*)\n"),
    Section = text:match("\nSection: ?([^\n]*)\n"),
    Maintainer = text:match("\nMaintainer: ?([^\n]*)\n"),
    Size = text:match("\nSize: ?([^\n]*)\n"),
    InstalledSize = text:match("\nInstalled%-Size: ?([^\n]*)\n"),
    Description = text:match("\nDescription: ?([^\n]*)\n"),
    Depends = text:match("\nDepends: ?([^\n]*)\n"),
    PreDepends = text:match("\nPre%-Depends: ?([^\n]*)\n"),
  }
end

--- How many lines a text has.
local function lines_in(text)
  return select(2, text:gsub("\n", "\n"))
end

--- Two functions: the first returns the next record's text, with the end of the line before it; the second the number
--- of the line in which a byte of that text stands.
local function texts(file)
  local block, first, next_first, line, at_end = "\n", 1, 1, 0, false
  local function read()
    local more = file:read(1 << 18)
    if more and more:sub(-1) == "\r" then more = more .. (file:read(1) or "") end
    at_end = not more
    line = line + lines_in(block:sub(1, next_first - 1))
    block, next_first = block:sub(next_first) .. (more and more:gsub("\r\n", "\n") or "\n\n"), 1
  end
  return function()
    while true do
      local stop = block:find("\n\n", next_first, true)
      if stop then
        first, next_first = next_first, stop + 1
        if stop > first then return block:sub(first, stop) end
      elseif at_end then
        return nil
      else
        read()
      end
    end
  end, function(position)
    return line + lines_in(block:sub(1, first + position - 2))
  end
end

--- Two functions: the first returns the next record, a table of fields, and what is wrong with its text; the second the
--- line to name then: the record's first, or the fault's.
local function records(file)
  local next_text, line_at = texts(file)
  local fault
  return function()
    local text = next_text()
    if not text then return nil end
    local last
    fault, last = text:find("\n[^%s:][^:\n]*\n")
    if fault then
      return {}, string.format("no field name in %q", text:sub(fault + 1, math.min(fault + 40, last - 1)))
    end
    local record = fields_of(text)
    if not utf8.len(text) then
      for field, value in pairs(record) do
        if not utf8.len(value) then return record, string.format("%s: its %s is not UTF-8", record.Package, field) end
      end
    end
    return record
  end, function()
    return line_at((fault or 1) + 1)
  end
end

local asked_by = {}  -- a name: the number of the record that asked for it last

--- Adds the names a dependency field asks for; of alternatives (`a | b`) the first counts, and no name comes twice.
local function add_names(names, field, number)
  if not field then return end
  for name in (", " .. field):gmatch(",%s*([%w+.-]+)") do
    if asked_by[name] ~= number then
      asked_by[name] = number
      names[#names + 1] = name
    end
  end
end

-- Writing ------------------------------------------------------------------------------------------------------

--- The objects that an earlier run left of an entity, by a key.
local function known(entity, key)
  local objects = {}
  for object in context:fetch(entity):each() do
    objects[object[key]] = object
  end
  return objects
end

local packages = known("Package", "name")
local sections = known("Section", "name")
local maintainers = {}
for maintainer in context:fetch("Maintainer"):each() do
  maintainers[maintainer.name .. "\0" .. (maintainer.email or "")] = maintainer
end

local function section_named(name)
  local section = sections[name]
  if not section then
    section = context:insert("Section", { name = name })
    sections[name] = section
  end
  return section
end

--- "Captain Scarlet <scarlet@example.org>", of which either half may be missing; of several maintainers the first.
local function maintainer_of(text)
  local name, email = text:match("^(.-)%s*<([^<>@%s]+@[^<>%s]+)>")
  name = name or text
  if name == "" then name = email end
  if not name then return nil end
  email = email and email:lower()
  local key = name .. "\0" .. (email or "")
  local maintainer = maintainers[key]
  if not maintainer then
    maintainer = context:insert("Maintainer", { name = name, email = email })
    maintainers[key] = maintainer
  end
  return maintainer
end

--- Sets only what differs, so that a second run writes nothing.
local function update(object, values)
  for key, value in pairs(values) do
    if object[key] ~= value then object[key] = value end
  end
end

local rejected = 0
local function reject(line, reason)
  rejected = rejected + 1
  io.stderr:write(string.format("%s:%d: record skipped: %s\n", source, line, reason))
end

--- A count as an integer, 0 where the field is missing, nil where it is no count.
local function count_in(text)
  return math.tointeger(tonumber(text or "0"))
end

local function values_of(record)
  local version = record.Version and DebianVersion.parse(record.Version)
  local size, installed = count_in(record.Size), count_in(record.InstalledSize)
  if not record.Package then return nil, "it has no Package field" end
  if not record.Version then return nil, record.Package .. " has no Version field" end
  if not version then return nil, string.format("%s: version %q is none", record.Package, record.Version) end
  if not size or size < 0 then return nil, string.format("%s: size %q is no count", record.Package, record.Size) end
  if not installed or installed < 0 then
    return nil, string.format("%s: installed size %q is no count", record.Package, record.InstalledSize)
  end
  return {
    name = record.Package, version = version, architecture = record.Architecture, summary = record.Description,
    size = size, installedSize = installed,
    section = record.Section and section_named(record.Section),
    maintainer = record.Maintainer and maintainer_of(record.Maintainer),
  }
end

--- Takes one record in; returns the package, or nil and why not. Without a reason a newer version was there before.
local function take(record, problem)
  if problem then return nil, problem end
  local values, reason = values_of(record)
  if not values then return nil, reason end

  local package = packages[values.name]
  if package then
    -- An index may hold several versions: the newest counts.
    if values.version < package.version then return nil end
    local updated, err = pcall(update, package, values)
    if not updated then return nil, string.format("%s: %s", values.name, err) end
    return package
  end
  local inserted
  inserted, package = pcall(context.insert, context, "Package", values)
  if not inserted then return nil, string.format("%s: %s", values.name, package) end
  local valid, err = package:validate("name", values.name)
  if not valid then
    context:delete(package)
    return nil, string.format("name %q %s", values.name, err.message)
  end
  packages[values.name] = package
  return package
end

local began = os.clock()
local progress = moonbase.progress(nil, "packages")
local requirements, taken = {}, 0
local next_record, line = records(input)
for record, problem in next_record do
  local package, reason = take(record, problem)
  if package then
    taken = taken + 1
    local names = {}
    asked_by[record.Package] = taken  -- no package depends on itself
    add_names(names, record.PreDepends, taken)
    add_names(names, record.Depends, taken)
    if #names > 0 then requirements[#requirements + 1] = { package, names } end
    if taken % 5000 == 0 then assert(context:save()) end
  elseif reason then
    reject(line(), reason)
  end
  progress:advance(1)
end
assert(context:save())
progress:finish()

-- A dependency may come before the package it names, so the edges follow when all packages are there.
progress = moonbase.progress(taken, "dependencies")
local linked, edges = 0, 0
for _, requirement in ipairs(requirements) do
  local package, names = table.unpack(requirement)
  local wanted_packages = {}
  for _, name in ipairs(names) do
    wanted_packages[#wanted_packages + 1] = packages[name]  -- nil for a virtual package: nothing to point at
  end
  local current = package.dependencies
  local same = #current == #wanted_packages
  for index = 1, same and #wanted_packages or 0 do
    same = same and current:contains(wanted_packages[index])
  end
  if not same then package.dependencies = wanted_packages end
  edges = edges + #wanted_packages
  linked = linked + 1
  if linked % 5000 == 0 then assert(context:save()) end
  progress:advance(1)
end
assert(context:save())
progress:finish()

local seconds = os.clock() - began
print(string.format("%d packages, %d dependencies, %d records skipped: %.1f s of one core, %.0f packages/s",
  taken, edges, rejected, seconds, taken / math.max(seconds, 0.001)))

-- Asking -------------------------------------------------------------------------------------------------------

print("\nThe largest sections, installed:\n")
local by_section = context:fetch("Package"):where("section != NULL"):group_by("section.name")
  :dictionaries { "section.name", packages = "@count.name", kibibytes = "@sum.installedSize" }
table.sort(by_section, function(one, other) return one.kibibytes > other.kibibytes end)
for index = 1, math.min(10, #by_section) do
  local row = by_section[index]
  print(string.format("  %-24s %6d packages %8.1f GiB", row["section.name"], row.packages, row.kibibytes / 1048576))
end

local nameless = context:fetch("Package"):where("maintainer.email = NULL")
print(string.format("\nPackages without a maintainer's e-mail: %d\n", nameless:count()))
for package in nameless:sort("name"):limit(10):each() do
  print(string.format("  %-32s %s", package.name, package.maintainer and package.maintainer.name or "no maintainer"))
end

print("\nThe packages that most others depend on:\n")
local threshold, popular = taken
repeat  -- the bar goes down until ten pass it
  threshold = threshold // 2
  popular = context:fetch("Package"):where("dependents.@count > %d", threshold):all()
until #popular >= 10 or threshold == 0
local dependents = {}
for _, package in ipairs(popular) do dependents[package] = #package.dependents end
table.sort(popular, function(one, other)
  if dependents[one] ~= dependents[other] then return dependents[one] > dependents[other] end
  return one.name < other.name
end)
for index = 1, math.min(10, #popular) do
  local package = popular[index]
  print(string.format("  %-24s %-24s %6d", package.name, tostring(package.version), dependents[package]))
end

print("\nstore    " .. store_path)
print([[

Try next:
  sqlite3 ]] .. store_path .. [[ 'SELECT ZNAME, ZSIZE FROM ZPACKAGE ORDER BY ZSIZE DESC LIMIT 5'
  a question of your own at the end of ]] .. here .. [[/import.lua]])
