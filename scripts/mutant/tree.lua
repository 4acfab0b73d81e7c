-- The list of mutants, and a copy of the repository with all mutants, each behind a condition (`scripts/mutants`).
--
--   lua5.4 scripts/mutant/tree.lua list [NUMBER...]   a line for each, or for some: number, suites, mistake
--   lua5.4 scripts/mutant/tree.lua write TREE         reads the names of the files to copy, with a zero byte after each
--
-- The current folder must be the repository. Files that the tree has with the same content are not written again, since
-- the compiler depends on their times.

local folder = arg[0]:match("^(.*)/[^/]*$") or "."

local mutants = {}
for _, name in ipairs({ "graph", "store" }) do
  for _, mutant in ipairs(dofile(folder .. "/" .. name .. ".lua")) do mutants[#mutants + 1] = mutant end
end

local function fail(text, ...)
  io.stderr:write(text:format(...), "\n")
  os.exit(1)
end

-- The content of a file; nil if there is no file.
local function read(path)
  local file = io.open(path, "rb")
  if not file then return end
  local text = file:read("a")
  file:close()
  return text
end

local function write(path, text)
  local file = assert(io.open(path, "wb"))
  assert(file:write(text))
  assert(file:close())
end

-- The number of occurrences of a plain text in another text.
local function count(text, part)
  local found, from = 0, 1
  while true do
    local first, last = text:find(part, from, true)
    if not first then return found end
    found, from = found + 1, last + 1
  end
end

-- A text with the first `part` replaced.
local function replaced(text, part, other)
  local first, last = text:find(part, 1, true)
  return text:sub(1, first - 1) .. other .. text:sub(last + 1)
end

-- A source with an import of the function that tells which mutant is on, before the first import or at the beginning.
-- The line imports only this function: the whole module would import Foundation's names, some of which are Moonbase's
-- too. An inlinable function may call only what its file imports publicly.
local function importing(text, file)
  if file:find("^Sources/MoonbasePlatform/") then return text end
  if text:find("import MoonbasePlatform%f[^%w]") then return text end
  local access = text:find("@inlinable", 1, true) and "public " or ""
  local line = access .. "import func MoonbasePlatform.isMutantOn\n"
  local first = ("\n" .. text):find("\n%l*%s?import ")
  return first and text:sub(1, first - 1) .. line .. text:sub(first) or line .. "\n" .. text
end

local switch = [[
/// The number of the mutant that is on; 0 for none (`scripts/mutants`).
private let numberOfMutant = ProcessInfo.processInfo.environment["MOONBASE_MUTANT"].flatMap { Int($0) } ?? 0

/// Whether the mutant of a number is on.
public func isMutantOn(_ number: Int) -> Bool { number == numberOfMutant }
]]

-- The mutated sources by path. Ends with an error that names each entry whose text does not occur once.
local function sources()
  local texts, originals, wrong = {}, {}, {}
  local function complain(number, text, ...)
    wrong[#wrong + 1] = ("mutant %d (%s): %s"):format(number, mutants[number].file, text:format(...))
  end
  for number, mutant in ipairs(mutants) do
    local file = mutant.file
    originals[file] = originals[file] or read(file)
    texts[file] = texts[file] or originals[file]
    if not originals[file] then
      complain(number, "there is no such file")
    elseif count(originals[file], mutant.from) ~= 1 or count(texts[file], mutant.from) ~= 1 then
      complain(number, "its text is there %d times, and has to be there once", count(texts[file], mutant.from))
    elseif not mutant.to:find("%f[%w]MUTANT%f[%W]") then
      complain(number, "what takes the place of its text has no MUTANT")
    else
      local to = mutant.to:gsub("%f[%w]MUTANT%f[%W]", ("isMutantOn(%d)"):format(number))
      texts[file] = replaced(texts[file], mutant.from, to)
    end
  end
  if #wrong > 0 then fail("%s", table.concat(wrong, "\n")) end
  for file, text in pairs(texts) do texts[file] = importing(text, file) end
  texts["Sources/MoonbasePlatform/Mutant.swift"] = switch
  return texts
end

-- Suites of mutants that no test file has.
local function checkSuites(paths)
  local known, wrong = {}, {}
  for _, path in ipairs(paths) do
    if path:find("^Tests/.*%.swift$") then
      for name in (read(path) or ""):gmatch("%f[%w]%l+ (%u%w*Tests)%f[%W]") do known[name] = true end
    end
  end
  for number, mutant in ipairs(mutants) do
    for name in mutant.suites:gmatch("[^|]+") do
      if not known[name] then wrong[#wrong + 1] = ("mutant %d: there is no suite %s"):format(number, name) end
    end
  end
  if #wrong > 0 then fail("%s", table.concat(wrong, "\n")) end
end

local function quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

-- Runs a command with many arguments, in groups.
local function run(command, arguments)
  for first = 1, #arguments, 200 do
    local some = table.concat({ table.unpack(arguments, first, math.min(first + 199, #arguments)) }, " ")
    if not os.execute(command .. " " .. some) then fail("%s failed", command) end
  end
end

local function makeFolders(tree, paths)
  local known, folders = {}, {}
  for _, path in ipairs(paths) do
    local name = path:match("^(.*)/[^/]*$")
    if name and not known[name] then
      known[name] = true
      folders[#folders + 1] = quoted(tree .. "/" .. name)
    end
  end
  run("mkdir -p --", folders)
end

-- Removes files of an earlier copy that no longer exist, since the compiler would treat them as sources.
local function removeOthers(tree, paths)
  local kept, list = {}, tree .. ".files"
  for _, path in ipairs(paths) do kept[path] = true end
  for path in (read(list) or ""):gmatch("[^\0]+") do
    if not kept[path] then os.remove(tree .. "/" .. path) end
  end
  write(list, table.concat(paths, "\0"))
end

local function writeTree(tree)
  local paths, mutated = {}, sources()
  for path in io.read("a"):gmatch("[^\0]+") do
    -- A file deleted without a commit is still listed.
    if read(path) then paths[#paths + 1] = path end
  end
  checkSuites(paths)
  paths[#paths + 1] = "Sources/MoonbasePlatform/Mutant.swift"
  makeFolders(tree, paths)
  removeOthers(tree, paths)
  local scripts = {}
  for _, path in ipairs(paths) do
    local text = mutated[path] or read(path)
    if text ~= read(tree .. "/" .. path) then write(tree .. "/" .. path, text) end
    if path:find("^scripts/[^/.]+$") then scripts[#scripts + 1] = quoted(tree .. "/" .. path) end
  end
  run("chmod +x --", scripts)
end

local function list(numbers)
  if #numbers == 0 then
    for number in ipairs(mutants) do numbers[number] = number end
  end
  for _, number in ipairs(numbers) do
    local mutant = mutants[tonumber(number)]
    if not mutant then fail("there is no mutant %s: their numbers are 1 to %d", number, #mutants) end
    print(("%d\t%s\t%s"):format(number, mutant.suites, mutant.says))
  end
end

if arg[1] == "list" then
  list({ table.unpack(arg, 2) })
elseif arg[1] == "write" and arg[2] then
  writeTree(arg[2])
else
  fail("say list or write, as the beginning of %s says", arg[0])
end
