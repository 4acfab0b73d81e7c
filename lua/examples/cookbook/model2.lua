-- The address and the phone of a person are contacts of their own.
return {
  version = "2",
  entities = {
    Person = {
      attributes = { name = { "string", optional = false } },
      relationships = {
        contacts = { to_many = "Contact", inverse = "person", delete = "cascade" },
        orders = { to_many = "Order", inverse = "person" },
      },
    },
    Contact = {
      attributes = { kind = { "string", one_of = { "email", "phone" } }, value = "string" },
      relationships = { person = { to = "Person", inverse = "contacts" } },
    },
    Order = {
      attributes = { number = "integer32", placed = "date", total = "decimal" },
      relationships = { person = { to = "Person", inverse = "orders" } },
    },
  },
}
