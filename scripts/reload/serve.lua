-- Tries to save an object until the rules allow it.
local context, last = moonbase.context, nil
repeat
  context:insert("Person", { name = "Ann", age = 200 })
  local saved, err = context:save()
  local line = saved and "Ann is saved" or tostring(err)
  if line ~= last then print(line) end
  io.stdout:flush()
  last = line
  context:rollback()
  local began = os.clock()
  repeat until os.clock() - began > 0.05
until saved
