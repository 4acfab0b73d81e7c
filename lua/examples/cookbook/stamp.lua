-- Keeps the time of the last change of each person.
return {
  name = "stamp",
  entities = {
    Person = { will_save = function(person) person:set_primitive("changed", moonbase.date.now()) end },
  },
}
