-- The two largest orders of each person.
local last, count
for row in moonbase.context:fetch("Order"):sort("person.email", "-total"):rows { "person.email", "number", "total" } do
  local person = row["person.email"]
  count = person == last and count + 1 or 1
  last = person
  if count <= 2 then print(person, row.number, row.total) end
end
