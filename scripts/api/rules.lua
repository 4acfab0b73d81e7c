-- An extension for the examples in lua/types.
return {
  name = "rules",
  version = "1.0",
  entities = {
    Person = {
      validate = { name = function(name) return #name < 100, "is too long" end },
      derived = { label = { stored = true, inputs = { "name" }, get = function(name) return name end } },
    },
  },
}
