-- People and the departments that they work in.
return {
  version = "1",
  entities = {
    Person = {
      attributes = {
        email = { "string", optional = false },
        name = { "string", optional = false },
        age = { "integer16", min = 0, max = 150 },
      },
      relationships = { department = { to = "Department", inverse = "people" } },
      constraints = { { "email" } },
    },
    Department = {
      attributes = { name = { "string", optional = false } },
      relationships = { people = { to_many = "Person", inverse = "department" } },
      constraints = { { "name" } },
    },
  },
}
