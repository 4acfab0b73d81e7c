-- Merges people whose addresses differ in capital letters only.
local context = moonbase.context
local kept = {}
for person in context:fetch("Person"):where("email != nil"):sort("email"):each() do
  local key = person.email:lower()
  local first = kept[key]
  if first then
    for name, value in pairs(person) do
      if first[name] == nil then first[name] = value end
    end
    first.orders:add(person.orders)
    context:delete(person)
  else
    kept[key] = person
  end
end
print(#context.deleted .. " merged")
assert(context:save())
