-- Random changes through every accessor of scripts, compared with tables of the expected values. Arguments: the first
-- seed and the number of seeds.
local context = moonbase.context
local first_seed, count = tonumber(arg[1]), tonumber(arg[2])
local defaults = { s = false, i = 0, d = false, day = false, bin = false, tr = false }
local keys = { "s", "i", "d", "day", "bin", "tr" }

-- False stands for nil, which a table cannot store.
local function kept(v)
  if v == nil then return false end
  return v
end

local seeded = require "seeded"
local random = seeded.random

local fresh = 0
local function value(key)
  fresh = fresh + 1
  if key ~= "i" and random(6) == 1 then return nil end
  if key == "i" then return fresh end
  if key == "d" then return fresh + 0.5 end
  if key == "day" then return moonbase.date.unix(fresh) end
  return "v" .. fresh
end

local function copied(world)
  local result = {}
  for object, values in pairs(world) do
    result[object] = {}
    for key, v in pairs(values) do result[object][key] = v end
  end
  return result
end

local doors = {
  assign = function(p, key, v) p[key] = v end,
  primitive = function(p, key, v)
    p:will_change(key)
    p:set_primitive(key, v)
    p:did_change(key)
  end,
  function_call = function(p, key, v) moonbase.object.will_access(p, key) p[key] = v end,
  in_transaction = function(p, key, v, world)
    -- A transaction requires a context without unsaved changes, so this accessor saves first.
    if world.inside then p[key] = v return end
    assert(context:save())
    world.saved = copied(world.now)
    assert(context:transaction(function() p[key] = v end))
    world.saved[p][key] = kept(v)
  end,
}
local door_names = { "assign", "assign", "primitive", "function_call", "in_transaction" }

local function set(world, p)
  for _ = 1, random(3) do
    local key, door = seeded.any(keys), seeded.any(door_names)
    local v = value(key)
    doors[door](p, key, v, world)
    world.now[p][key] = kept(v)
  end
end

local function check(world, what)
  for p, values in pairs(world.now) do
    for key, wanted in pairs(values) do
      local found = kept(p[key])
      if found ~= wanted then
        error(("%s: %s is %s, not %s"):format(what, key, tostring(found), tostring(wanted)), 0)
      end
      found = kept(p:primitive(key))
      if key ~= "tr" and found ~= wanted then
        error(("%s: the primitive %s is %s, not %s"):format(what, key, tostring(found), tostring(wanted)), 0)
      end
    end
  end
end

local function pick(world) return world.list[random(#world.list)] end

local operations
operations = {
  set = function(world) set(world, pick(world)) end,
  set_two = function(world) set(world, pick(world)) set(world, pick(world)) end,
  save = function(world)
    assert(context:save())
    world.saved = copied(world.now)
  end,
  rollback = function(world)
    context:rollback()
    world.now = copied(world.saved)
  end,
  fail_transaction = function(world)
    operations.save(world)
    world.inside = true
    local ok, err = context:transaction(function()
      local p = pick(world)
      set(world, p) set(world, p) set(world, pick(world))
      if random(2) == 1 then check(world, "within a transaction") end
      error("stop")
    end)
    assert(not ok and tostring(err):find("stop"), tostring(err))
    world.inside = false
    world.now = copied(world.saved)
  end,
  refuse_save = function(world)
    local p = pick(world)
    local former = world.now[p].i
    p.i = -1
    local ok, err = context:save()
    assert(not ok and err.key == "i", tostring(err))
    p.i = former
  end,
  fail_will_save = function(world)
    local p = pick(world)
    p.s = "fail in the hook"
    local ok, err = context:save()
    assert(not ok and err.message:find("the hook fails"), tostring(err))
    world.now[p].s = "fail in the hook"
    check(world, "after a hook that failed")
    p.s = "done"
    world.now[p].s = "done"
    set(world, p)
  end,
  refresh = function(world) context:refresh(pick(world), true) end,
  give_up = function(world)
    local p = pick(world)
    context:refresh(p, false)
    for key, v in pairs(world.saved[p]) do world.now[p][key] = v end
  end,
  batch_update = function(world)
    assert(context:save())
    fresh = fresh + 1
    context:fetch("P"):batch_update { s = "'batch " .. fresh .. "'" }
    for _, values in pairs(world.now) do values.s = "batch " .. fresh end
    world.saved = copied(world.now)
  end,
}
local names = { "set", "set", "set", "set_two", "save", "rollback", "fail_transaction", "fail_transaction",
  "refuse_save", "fail_will_save", "fail_will_save", "refresh", "give_up", "batch_update" }

local function run(seed)
  seeded.begin(seed * 7919 + 17)
  fresh = 0
  context:fetch("P"):batch_delete()
  context:reset()
  local world = { now = {}, list = {} }
  for index = 1, 3 do
    local p = context:insert("P", { i = index })
    world.now[p], world.list[index] = {}, p
    for key, v in pairs(defaults) do world.now[p][key] = v end
    world.now[p].i = index
  end
  operations.save(world)
  local log = {}
  for _ = 1, 30 do
    local name = seeded.any(names)
    log[#log + 1] = name
    local ok, message = pcall(function()
      operations[name](world)
      check(world, "after " .. name)
    end)
    if not ok then return "seed " .. seed .. ": " .. tostring(message) .. " (" .. table.concat(log, " ") .. ")" end
  end
  context:rollback()
  assert(context:save())
end

for seed = first_seed, first_seed + count - 1 do
  local message = run(seed)
  if message then print(message) end
end
print("done")
