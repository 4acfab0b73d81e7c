-- Gives each person the day of the first order.
return {
  request = function(context) return context:fetch("Person"):where("since = nil AND orders.@count > 0") end,
  chunk = function(people)
    for _, person in ipairs(people) do person.since = person.orders:sort("placed"):first().placed end
  end,
}
