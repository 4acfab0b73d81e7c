return {
  name = "rules",
  entities = {
    Person = {
      validate = {
        age = function(age)
          return age < 150, "is too old"
        end,
      },
    },
  },
}
