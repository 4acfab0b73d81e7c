-- Makes people, and the orders within them, of a file of JSON.
local json = require "moonbase.json"

local context = moonbase.context
for _, customer in ipairs(assert(json.decode(assert(io.open(arg[1])):read("a")))) do
  local person = context:upsert("Person", { "email" }, { email = customer.email, name = customer.name })
  for _, order in ipairs(customer.orders) do
    context:upsert("Order", { "number" }, {
      number = order.number,
      placed = moonbase.date(order.placed),
      total = order.total and moonbase.decimal(order.total),
      person = person,
    })
  end
end
assert(context:save())
