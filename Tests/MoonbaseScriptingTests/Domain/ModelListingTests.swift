import MoonbaseGraph
import MoonbaseModel
import MoonbaseScripting
import Testing

/// The model as scripts read it.
@Suite struct ModelListingTests {
  private static let model = """
    return { entities = {
      Person = {
        attributes = {
          age = { "integer16", optional = false, default = 3, min = 0, max = 150, user_info = { unit = { "years" } } },
          kind = { "string", one_of = { "friend", "colleague" }, max_length = 20 },
        },
        relationships = { friends = { to_many = "Person", inverse = "friends", max = 5 },
                          boss = { to = "Person", inverse = "staff", delete = "deny" },
                          staff = { to_many = "Person", inverse = "boss", ordered = true } },
        fetched_properties = { peers = { "Person", "age == $FETCH_SOURCE.age" } },
      },
      Employee = { parent = "Person", abstract = true, attributes = { title = "string" } },
    } }
    """

  @Test func entitiesAndPropertiesAreListedWithWhatTheModelSays() throws {
    let lines = try ScriptBench(model: Self.model, extensions: []).lines(
      """
      local entities = moonbase.model.entities
      local person = entities.Person
      local age, kind = person.attributes.age, person.attributes.kind
      print(#entities, person.name, entities.Employee.parent, entities.Employee.abstract, person.parent)
      print(age.type, age.optional, age.default, age.min, age.max, age.user_info.unit[1], kind.max_length, kind.one_of[2])
      print(person.relationships.friends.inverse, person.relationships.friends.max, person.relationships.staff.ordered)
      print(person.relationships.boss.destination, person.relationships.boss.to_many, person.relationships.boss.delete)
      print(person.fetched_properties.peers.predicate)
      for name, entity in pairs(entities) do print(name, entity.name, #entity.attributes) end
      print(entities.Employee.attributes.age.type, moonbase.model == moonbase.model, person == entities.Person)
      """)
    #expect(
      lines == [
        "2\tPerson\tPerson\ttrue\tnil", "integer16\tfalse\t3\t0\t150\tyears\t20\tcolleague", "friends\t5\ttrue",
        "Person\tfalse\tdeny", "age == $FETCH_SOURCE.age", "Person\tPerson\t2", "Employee\tEmployee\t3",
        "integer16\ttrue\ttrue",
      ])
  }

  @Test func theModelIsOnlyReadAndUnknownNamesAreMistakes() throws {
    let lines = try ScriptBench(model: Self.model, extensions: []).lines(
      """
      local entities = moonbase.model.entities
      local function fails(f) print((tostring(select(2, pcall(f))):gsub("^[^:]*:%d+: ", ""))) end
      fails(function() return entities.Persn end)
      fails(function() return entities.Person.attributes.agee end)
      fails(function() return entities.Person.relationships.frends end)
      fails(function() entities.New = {} end)
      fails(function() entities.Person.name = "x" end)
      fails(function() entities.Person.attributes.age.user_info.unit[1] = "x" end)
      fails(function() moonbase.model.entities = nil end)
      fails(function() return entities.Person.atributes end)
      fails(function() return entities.Person.relationships.boss.destinaton end)
      fails(function() return entities.Person.fetched_properties.peers.predicte end)
      """)
    #expect(
      lines == [
        "the model has no entity Persn; did you mean Person?", "Person has no attribute agee; did you mean age?",
        "Person has no relationship frends; did you mean friends?",
        "a script cannot change the model: New is only read",
        "attempt to change a frozen table", "attempt to change a frozen table", "attempt to change a frozen table",
        "an entity of moonbase.model has no 'atributes'; did you mean attributes?",
        "a relationship of moonbase.model has no 'destinaton'; did you mean destination?",
        "a fetched property of moonbase.model has no 'predicte'; did you mean predicate?",
      ])
  }

  /// An app's context has a domain of its own, without a script context.
  @Test func hooksOfAnAppReachTheirModelAndTheirContextWhichTheyDoNotKeepAlive() throws {
    let bench = try ScriptBench(
      model: ScriptBench.model,
      extensions: [
        """
        local kept
        return { entities = { Department = { awake_from_insert = function(d)
          kept = d:context()
          assert(moonbase.context == nil and d:context() == kept)
          d.name = moonbase.model.entities.Department.attributes.name.type .. " " .. kept:fetch("Department"):count()
        end } } }
        """, ScriptBench.colors,
      ])
    weak var gone: ManagedObjectContext?
    do {
      let context = try ManagedObjectContext(bench.coordinator, extensions: bench.extensions)
      let department = try context.insert("Department")
      #expect(try department.value(forKey: "name") == "string 1")
      gone = context
    }
    #expect(gone == nil)
  }

  @Test func aContextThatIsGoneSaysSo() throws {
    let lines = try ScriptBench().lines(
      """
      local p = context:insert("Person")
      print(p:context() == context, moonbase.object.context(p) == context)
      context:delete(p)
      context:save()
      print(p:context())
      """)
    #expect(lines == ["true\ttrue", "nil"])
  }
}
