-- The store of the picture.
return { entities = { Person = { attributes = { name = "string", age = "integer16" } } } }
