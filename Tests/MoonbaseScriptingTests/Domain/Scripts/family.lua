-- luacheck: globals moonbase
-- Random scripts with undo, children, jobs on other threads and observers, compared with tables of the expected values.
-- Arguments: the first seed and the number of seeds.
local context = moonbase.context
local first_seed, count = tonumber(arg[1]), tonumber(arg[2])

local seeded = require "seeded"
local random = seeded.random

local fresh = 0
local function number()
  fresh = fresh + 1
  return fresh
end

-- The values of a context: items by key, each with a number and perhaps the key of a group; groups by key.
local function copy(world)
  local items, groups = {}, {}
  for key, item in pairs(world.items) do items[key] = { n = item.n, group = item.group } end
  for key in pairs(world.groups) do groups[key] = true end
  return { items = items, groups = groups }
end

local function any(world_part)
  local keys = {}
  for key in pairs(world_part) do keys[#keys + 1] = key end
  if #keys == 0 then return nil end
  -- `pairs` has no order.
  table.sort(keys)
  return seeded.any(keys)
end

local world  -- saved, root, child, past, future, and the observed values

local function item(of, key) return (assert(of:find("Item", { key = key }), key)) end
local function group(of, key) return (assert(of:find("Group", { key = key }), key)) end

-- MARK: Changes of one context, each a call

local changes = {
  function(of, model)
    local key, n = "i" .. number(), number()
    of:insert("Item", { key = key, n = n })
    model.items[key] = { n = n, group = false }
    return key
  end,
  function(of, model)
    local key = "g" .. number()
    of:insert("Group", { key = key })
    model.groups[key] = true
  end,
  function(of, model)
    local key, n = any(model.items), number()
    if not key then return false end
    item(of, key).n = n
    model.items[key].n = n
  end,
  function(of, model)
    local key, target = any(model.items), random(4) > 1 and any(model.groups) or false
    if not key or model.items[key].group == target then return false end
    item(of, key).group = target and group(of, target) or nil
    model.items[key].group = target
  end,
  function(of, model)
    local key, target = any(model.items), any(model.groups)
    if not key or not target or model.items[key].group == target then return false end
    group(of, target).items:add(item(of, key))
    model.items[key].group = target
  end,
  function(of, model)
    local key = any(model.items)
    if not key then return false end
    of:delete(item(of, key))
    model.items[key] = nil
  end,
  function(of, model)
    local key = any(model.groups)
    if not key then return false end
    of:delete(group(of, key))
    model.groups[key] = nil
    for _, each in pairs(model.items) do if each.group == key then each.group = false end end
  end,
}

local function change(of, model) return seeded.any(changes)(of, model) end

-- MARK: Comparing

local function compare(of, model, what)
  local found = of:fetch("Item"):all()
  local wanted = 0
  for _ in pairs(model.items) do wanted = wanted + 1 end
  if #found ~= wanted then error(("%s has %d items, not %d"):format(what, #found, wanted), 0) end
  for _, each in ipairs(found) do
    local known = model.items[each.key]
    if not known then error(("%s has %s"):format(what, each.key), 0) end
    if known.n ~= each.n then error(("%s: %s has %d, not %d"):format(what, each.key, each.n, known.n), 0) end
    local place = each.group and each.group.key or false
    if known.group ~= place then
      error(("%s: %s is in %s, not in %s"):format(what, each.key, tostring(place), tostring(known.group)), 0)
    end
  end
  for _, each in ipairs(of:fetch("Group"):all()) do
    local members = 0
    for _, known in pairs(model.items) do if known.group == each.key then members = members + 1 end end
    if #each.items ~= members then
      error(("%s: %s has %d members, not %d"):format(what, each.key, #each.items, members), 0)
    end
  end
end

local function compare_saved()
  local rows = context:fetch("Item"):dictionaries { "key", "n" }
  local wanted = 0
  for _ in pairs(world.saved.items) do wanted = wanted + 1 end
  if #rows ~= wanted then error(("the store has %d items, not %d"):format(#rows, wanted), 0) end
  for _, row in ipairs(rows) do
    local known = world.saved.items[row.key]
    if not known or known.n ~= row.n then error("the store: " .. row.key .. " is another one", 0) end
  end
end

-- The numbers that observers of items have recorded.
local function compare_known()
  context:process_pending_changes()
  for key, known in pairs(world.known) do
    local there, n = pcall(function()
      return known.object:context() == context and not known.object:is_deleted() and known.object.n or nil
    end)
    if there and n and n ~= known.n then
      error(("the observer of %s knows %d, not %d"):format(key, known.n, n), 0)
    end
  end
end

-- MARK: The root

local function observe(key)
  local object = item(context, key)
  local known = { object = object, n = object.n }
  object:observe("n", function(n) known.n = n end)
  world.known[key] = known
end

local function forget_steps()
  world.past, world.future = {}, {}
  context.undo_levels = nil
  context.undo_levels = 100
end

local function difference(old, new)
  local inserted, deleted, updated = 0, 0, 0
  for key, each in pairs(new.items) do
    local known = old.items[key]
    if not known then
      inserted = inserted + 1
    elseif known.n ~= each.n or known.group ~= each.group then
      updated = updated + 1
    end
  end
  for key in pairs(old.items) do if not new.items[key] then deleted = deleted + 1 end end
  return inserted, updated, deleted
end

-- Whether the changes leave no difference, as for an insertion that was deleted again.
local function is_same(old, new)
  local inserted, updated, deleted = difference(old, new)
  for key in pairs(old.groups) do if not new.groups[key] then return false end end
  for key in pairs(new.groups) do if not old.groups[key] then return false end end
  return inserted + updated + deleted == 0
end

-- A child reads its parent's current values, so the parent is not changed while it has a child.
local function step(body)
  local before = copy(world.root)
  local result = body()
  if result == false then return end
  -- A group of these changes may have no step to undo.
  if is_same(before, world.root) then return forget_steps() end
  world.past[#world.past + 1] = before
  world.future = {}
  if type(result) == "string" and random(2) == 1 then observe(result) end
end

local function items(list)
  local total = 0
  for _, object in ipairs(list) do if object.entity == "Item" then total = total + 1 end end
  return total
end

local function save()
  local inserted, updated, deleted = difference(world.saved, world.root)
  world.told = nil
  assert(context:save())
  local told = world.told
  if inserted + deleted > 0 or told then
    if not told then error("a save was not told", 0) end
    if told.inserted ~= inserted or told.deleted ~= deleted or told.updated < updated then
      error(("a save told of %d, %d, %d, and there were %d, %d, %d"):format(
        told.inserted, told.updated, told.deleted, inserted, updated, deleted), 0)
    end
  end
  world.saved = copy(world.root)
end

local function is_settled() return not world.child and not context.has_changes end

local operations = {
  function() if not world.child then step(function() return change(context, world.root) end) end end,
  function() if not world.child then step(function() return change(context, world.root) end) end end,
  function()
    if world.child then return end
    step(function()
      local changed = false
      context:undo_group("several", function()
        for _ = 1, 3 do changed = change(context, world.root) ~= false or changed end
      end)
      return changed
    end)
  end,
  function()
    if world.child then return end
    if context:undo() ~= (#world.past > 0) then error("undo says something else", 0) end
    if #world.past == 0 then return end
    world.future[#world.future + 1] = world.root
    world.root = table.remove(world.past)
  end,
  function()
    if world.child then return end
    if context:redo() ~= (#world.future > 0) then error("redo says something else", 0) end
    if #world.future == 0 then return end
    world.past[#world.past + 1] = world.root
    world.root = table.remove(world.future)
  end,
  save,
  function()
    if not context.has_changes then return end
    world.fails = true
    local ok, err = context:save()
    world.fails = false
    if ok or not tostring(err):find("no", 1, true) then error("a save goes on that an observer fails", 0) end
  end,
  function()
    if world.child then return end
    context:rollback()
    world.root = copy(world.saved)
    world.past, world.future = {}, {}
  end,
  function()
    if world.child then return end
    world.child = { context = context:child(), model = copy(world.root) }
  end,
  function() if world.child then change(world.child.context, world.child.model) end end,
  function() if world.child then change(world.child.context, world.child.model) end end,
  function()
    local child = world.child
    if not child then return end
    world.child = nil
    if random(3) > 1 then
      step(function()
        if not child.context.has_changes then return false end
        assert(child.context:save())
        world.root = child.model
      end)
    end
    child.context:close()
  end,
  function()
    local before, fails = copy(world.root), random(2) == 1
    if world.child then return end
    local ok, err = context:transaction(function()
      for _ = 1, 3 do change(context, world.root) end
      if fails then error("no", 0) end
    end)
    if fails then
      if ok or err.message ~= "no" then error("a transaction: " .. tostring(err), 0) end
      world.root = before
    else
      assert(ok, tostring(err))
      world.saved = copy(world.root)
      forget_steps()
    end
  end,
  function()
    local key, n = any(world.saved.items), number()
    if not is_settled() or not key then return end
    local fails = random(3) == 1
    local job = moonbase.background("family_job", { key = key, n = n, fails = fails })
    local result, err = job:wait()
    if fails then
      if result or not err.message:find("no", 1, true) then error("a job: " .. tostring(err), 0) end
      return
    end
    if result ~= n then error("a job gave " .. tostring(result) .. tostring(err), 0) end
    context:refresh_all()
    world.saved.items[key].n = n
    world.root = copy(world.saved)
    forget_steps()
  end,
  function()
    if not is_settled() or random(3) > 1 then return end
    local results, errors = moonbase.parallel(context:fetch("Item"), "family_part", 1000)
    if errors then error("parts fail", 0) end
    local done = 0
    for _, each in ipairs(results) do done = done + each end
    context:refresh_all()
    for _, each in pairs(world.saved.items) do each.n, done = each.n + 1000, done - 1 end
    if done ~= 0 then error("parts have done others", 0) end
    world.root = copy(world.saved)
    forget_steps()
  end,
}

local function run(seed)
  seeded.begin(seed * 7919 + 1)
  for _ = 1, 3 do random(2) end
  world = {
    saved = { items = {}, groups = {} }, root = { items = {}, groups = {} }, past = {}, future = {}, known = {},
  }
  context.undo_levels = 100
  local watches = {
    context:on("will_save", function() if world.fails then error("no", 0) end end),
    context:on("did_save", function(told)
      world.told = { inserted = items(told.inserted), updated = items(told.updated), deleted = items(told.deleted) }
    end),
  }
  local ran = {}
  for _ = 1, 30 do
    local at = random(#operations)
    ran[#ran + 1] = at
    local what = ("operations %s: "):format(table.concat(ran, " "))
    local done, message = pcall(operations[at])
    if not done then error(what .. tostring(message), 0) end
    compare(context, world.root, what .. "the context")
    if world.child then compare(world.child.context, world.child.model, what .. "its child") end
    compare_known()
    if random(4) == 1 then compare_saved() end
  end
  if world.child then world.child.context:close() end
  for _, watch in ipairs(watches) do watch:cancel() end
  context:rollback()
  context.undo_levels = nil
  compare(context, world.saved, "the end")
  for _, entity in ipairs { "Item", "Group" } do
    for _, object in ipairs(context:fetch(entity):all()) do context:delete(object) end
  end
  assert(context:save())
  context:reset()
end

for seed = first_seed, first_seed + count - 1 do
  local done, message = pcall(run, seed)
  if not done then error(("seed %d: %s"):format(seed, tostring(message)), 0) end
end
print("done")
