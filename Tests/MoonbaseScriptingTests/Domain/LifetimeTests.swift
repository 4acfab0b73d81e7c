import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting
import Testing

@Suite struct LifetimeTests {
  @Test func closedDomainLetsGoOfContextsAndStores() throws {
    weak var context: ManagedObjectContext?
    weak var coordinator: PersistentStoreCoordinator?
    weak var domain: ScriptDomain?
    try {
      let bench = try ScriptBench()
      let scripts = try ScriptDomain()
      let opened = try scripts.context(
        of: StoreHandle(coordinator: bench.coordinator, extensions: bench.extensions))
      try scripts.setContext(opened)
      let script = ScriptSource(
        name: "s",
        text: """
          local c = moonbase.context p = c:insert('Person', { age = 3 }) r = c:fetch('Person')
          for q in r:each() do end c:save()
          """)
      #expect(ScriptRunner(scripts).run([script]).status == 0)
      context = opened
      coordinator = bench.coordinator
      domain = scripts
      scripts.close()
    }()
    #expect(domain == nil)
    #expect(context == nil)
    #expect(coordinator == nil)
  }

  /// A context extended by scripts may outlive them; its objects then throw errors.
  @Test func contextThatOutlivesItsScriptsGivesAnErrorAndNoTrap() throws {
    let bench = try ScriptBench(
      model: ThingBench.model,
      extensions: [
        """
        return {
          name = "x",
          transformers = { T = { transform = function(v) return v end, reverse = function(b) return b end } },
          entities = { P = {
            normalize = { s = function(v) return v end },
            validate = { i = function(v) return true end },
            validate_for_insert = function() return true end,
            will_save = function() end, awake_from_insert = function() end, prepare_for_deletion = function() end,
            will_turn_into_fault = function() end,
            derived = { other = { type = "string", get = function(o) return "o" end, set = function(v, o) end },
                        twice = { type = "integer64", inputs = { "i" }, get = function(i) return 2 * i end } },
          } },
        }
        """
      ])
    var scripts: ScriptDomain? = try ScriptDomain()
    let context = try #require(
      try scripts?.context(of: StoreHandle(coordinator: bench.coordinator, extensions: bench.extensions)))
    try scripts?.setContext(context)
    let thing = try context.insert("P", values: ["s": "a", "i": 1])
    try context.save()
    weak let gone = scripts
    scripts?.close()
    scripts = nil
    #expect(gone == nil)
    func refuses(_ body: () throws -> Void) {
      #expect { try body() } throws: { "\($0)".contains("the scripts of this context are closed") }
    }
    refuses { _ = try thing.value(forKey: "other") }
    refuses { _ = try thing.value(forKey: "twice") }
    refuses { try thing.setValue("b", forKey: "other") }
    refuses { try thing.setValue(.data(.init([1])), forKey: "tr") }
    refuses { try thing.validate("b", forKey: "s") }
    refuses { try thing.validate(2, forKey: "i") }
    refuses { try context.insert("P") }
    refuses { try context.delete(thing) }
    try thing.setValue("b", forKey: "s")
    refuses { try context.save() }
    refuses { try context.rollback() }
    #expect(!context.hasChanges && thing["s"] == "a")
    #expect(context.drainAccessorErrors().isEmpty)
  }

  /// A Lua state may outlive the domain that made it.
  @Test func stateThatOutlivesItsDomainGivesAnErrorAndNoTrap() throws {
    var scripts: ScriptDomain? = try ScriptDomain()
    let state = try #require(scripts?.state)
    let bench = try ScriptBench()
    let context = try #require(
      try scripts?.context(of: StoreHandle(coordinator: bench.coordinator, extensions: bench.extensions)))
    try scripts?.setContext(context)
    let program = """
      local kept = moonbase.context:insert('Person')
      return function() return moonbase.context:fetch('Person'):all() end,
        function() return moonbase.context:insert('Person', { age = 1 }) end,
        function() return kept.firstName end, function() kept.firstName = 'b' end,
        function() return kept:id() end, function() return kept.friends:all() end
      """
    let functions = try state.load(program, name: "early").call([]).compactMap { value in
      if case .function(let function) = value { function } else { nil }
    }
    #expect(functions.count == 6)
    try state.load("return moonbase.date.parse('no date'), moonbase.decimal('1.5'), moonbase.uuid()", name: "x").call([]
    )
    scripts?.close()
    scripts = nil
    for function in functions {
      #expect { try function.call([]) } throws: { "\($0)".contains("are closed") }
    }
    _ = try? state.load("return tostring(moonbase.decimal('1.5') + 1), tostring(moonbase.date.now())", name: "y").call(
      [])
  }
}
