-- People, their orders, and a log of changes.
return {
  version = "1",
  entities = {
    Person = {
      attributes = {
        name = { "string", optional = false },
        email = "string",
        phone = "string",
        postcode = "string",
        city = "string",
        first = "string",
        last = "string",
        since = "date",
        changed = "date",
      },
      relationships = { orders = { to_many = "Order", inverse = "person" } },
    },
    Order = {
      attributes = { number = "integer32", placed = "date", total = "decimal" },
      relationships = { person = { to = "Person", inverse = "orders" } },
    },
    Change = {
      attributes = { date = "date", object = "string", property = "string", old = "string", new = "string" },
    },
  },
}
