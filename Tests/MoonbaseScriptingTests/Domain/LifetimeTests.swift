import MoonbaseGraph
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
        of: OpenedContainer(coordinator: bench.coordinator, extensions: bench.extensions))
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
}
