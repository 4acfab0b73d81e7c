-- luacheck: globals moonbase
-- Random edits with derived attributes: after each edit, every derived value equals the result of its function.
-- Arguments: the first seed and the number of seeds.
local context = moonbase.context
local first_seed, count = tonumber(arg[1]), tonumber(arg[2])

local seeded = require "seeded"
local random = seeded.random

-- Computes the extension's values from scratch.
local names = require "names"
local joined = names.joined

local function sum(members)
  local total = 0
  for member in members:each() do total = total + (member.age or 0) end
  return total
end

local function label(person) return names.label(person.name, person.age) end

local function place(person) return person.team and (person.team.title or "untitled") or "nowhere" end

local expected = {
  Person = {
    label = label, early = label, place = place,
    crowd = function(person) return names.of(person.friends) end,
    chain = function(person) return label(person) .. "@" .. place(person) end,
  },
  Team = {
    roll = function(team) return names.of(team.members) end,
    total = function(team) return sum(team.members) end,
    deep = function(team)
      local list = {}
      for member in team.members:each() do list[#list + 1] = label(member) end
      return joined(list)
    end,
  },
}
-- Attributes that a save updates.
local stored = {
  Person = { saved = function(person) return label(person) .. "/" .. place(person) end, own = label },
  Team = { saved = function(team) return names.of(team.members) .. "/" .. sum(team.members) end },
}

local function check(world, functions, when)
  for _, object in ipairs(world) do
    for key, from_scratch in pairs(functions[object.entity]) do
      local found, wanted = object[key], from_scratch(object)
      if found ~= wanted then
        error(("%s: %s of %s is %s, not %s"):format(when, key, object.entity, tostring(found), tostring(wanted)), 0)
      end
    end
  end
end

local function pick(world, entity)
  local candidates = {}
  for _, object in ipairs(world) do if object.entity == entity then candidates[#candidates + 1] = object end end
  return candidates[random(#candidates + (#candidates == 0 and 1 or 0))]
end

local function insert(world, entity)
  local object = context:insert(entity)
  world[#world + 1] = object
  return object
end

local function name() return random(5) > 1 and ("n" .. random(4)) or nil end

local function saved_by_another(world)
  local person = pick(world, "Person")
  if context.has_changes or not person then return end
  local other = context:child()
  local same = other:object(person:id())
  same.age, same.name = random(90), name()
  assert(other:save())
  other:close()
end

local operations = {
  function(world) insert(world, "Person").name = name() end,
  function(world) insert(world, "Team").title = name() end,
  function(world) local p = pick(world, "Person") if p then p.name = name() end end,
  function(world) local p = pick(world, "Person") if p then p.age = random(90) end end,
  function(world) local p = pick(world, "Person") if p then p:set_primitive("age", random(90)) end end,
  function(world) local t = pick(world, "Team") if t then t.title = name() end end,
  function(world) local p = pick(world, "Person") if p then p.team = random(4) > 1 and pick(world, "Team") or nil end end,
  function(world)
    local p, q = pick(world, "Person"), pick(world, "Person")
    if p and p ~= q then p.friends:add(q) end
  end,
  function(world) local p = pick(world, "Person") if p then p.friends = {} end end,
  function(world)
    local p, t = pick(world, "Person"), pick(world, "Team")
    if p and t then t.members:add(p) end
  end,
  function(world)
    local at = random(#world)
    local object = table.remove(world, at)
    context:delete(object)
    context:process_pending_changes()
  end,
  function(world)
    assert(context:save())
    check(world, stored, "after the save")
  end,
  function(world)
    assert(context:save())
    local _, err = context:transaction(function()
      for _, object in ipairs(world) do object[object.entity == "Team" and "title" or "name"] = "lost" end
      check(world, expected, "in a transaction")
      error("no", 0)
    end)
    if err.message ~= "no" then error(err.message, 0) end
  end,
  function(world)
    assert(context:save())
    local p = pick(world, "Person")
    if p then
      p.name, p.age = "gone", 1
      context:rollback()
    end
  end,
  function(world)
    assert(context:save())
    local object = seeded.any(world)
    context:refresh(object, random(2) == 1)
  end,
  function(world) if random(2) == 1 then context:undo() elseif context.can_redo then context:redo() end end,
  saved_by_another,
}

-- Undo and redo insert and delete objects.
local function there()
  local world = {}
  for _, entity in ipairs { "Person", "Team" } do
    for _, object in ipairs(context:fetch(entity):all()) do world[#world + 1] = object end
  end
  return world
end

local function run(seed)
  seeded.begin(seed * 7919 + 1)
  for _ = 1, 3 do random(2) end
  context.undo_levels = 20
  insert({}, "Person").name = "n1"
  insert({}, "Team").title = "t1"
  for step = 1, 25 do
    local world = there()
    if #world == 0 then world = { context:insert("Person") } end
    seeded.any(operations)(world)
    world = there()
    if random(3) > 1 then check(world, expected, "step " .. step) end
  end
  assert(context:save())
  check(there(), stored, "at the end")
  -- Predicates over these values give the same result in the store and in the context.
  for _, person in ipairs(there()) do
    if person.entity == "Person" and person.name then
      local found = context:fetch("Person"):where("pure = %@", person.pure):count()
      local wanted = 0
      for _, other in ipairs(there()) do
        if other.entity == "Person" and other.name == person.name then wanted = wanted + 1 end
      end
      if found ~= wanted then error(("a fetch finds %d, not %d"):format(found, wanted), 0) end
    end
  end
  context.undo_levels = nil
  for _, object in ipairs(there()) do context:delete(object) end
  assert(context:save())
  context:reset()
end

for seed = first_seed, first_seed + count - 1 do
  local done, message = pcall(run, seed)
  if not done then error(("seed %d: %s"):format(seed, tostring(message)), 0) end
end
print("done")
