-- Beyond what the two models say: which values become contacts.
return {
  Person = function(old, new, migration)
    new.name = old.name
    for _, kind in ipairs { "email", "phone" } do
      if old[kind] then
        migration.destination_context:insert("Contact", { kind = kind, value = old[kind], person = new })
      end
    end
  end,
}
