import Moonbase
import MoonbaseLua
import MoonbasePlatform
import Testing

/// A program goes on with what a script used whose run had to end while the host was at work for it.
@Suite struct HostLimitTests {
  private static let model = """
    return { entities = { P = {
      attributes = { n = 'integer64' },
      relationships = {
        friends = { to_many = 'P', inverse = 'friendOf' }, friendOf = { to_many = 'P', inverse = 'friends' },
      },
    } } }
    """

  private static let count = """
    moonbase.context:fetch('P'):where('SUBQUERY(friends, $a, SUBQUERY($a.friends, $b, SUBQUERY($b.friends, $c, SUBQUERY('
      .. '$c.friends, $d, $d.n * $b.n * $c.n * $a.n = -1).@count > 0).@count > 0).@count > 0).@count > 0'):count()
    """

  enum End: CaseIterable {
    case deadline, instructions, interruption

    var limits: LuaLimits {
      switch self {
      case .deadline: LuaLimits(deadline: 1.5)
      case .instructions: LuaLimits(instructions: 3_000_000)
      case .interruption: LuaLimits()
      }
    }
  }

  let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Limits-\(UUID().uuidString)")

  init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

  private func filledContainer(isStored: Bool) throws -> PersistentContainer {
    let model = try LuaModelFile().read(ScriptSource(name: "model.lua", text: Self.model))
    let file = folder.appendingPathComponent("s.sqlite")
    let container = try PersistentContainer(model: model, store: isStored ? .sqlite(file) : .inMemory, extensions: [])
    let context = try ManagedObjectContext(container.coordinator, extensions: container.extensions)
    let objects = try (0..<60).map { try context.insert("P", ["n": .int($0)]) }
    for (i, object) in objects.enumerated() {
      try object.setObjects((0..<20).map { objects[(i * 7 + $0 * 13) % 60] }, forKey: "friends")
    }
    try context.save()
    return container
  }

  @Test(arguments: End.allCases, [false, true])
  func aContextIsUsableAfterTheHostHadToStop(_ end: End, isStored: Bool) throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let container = try filledContainer(isStored: isStored)
    let domain = try ScriptDomain(limits: end.limits)
    defer { domain.close() }
    let context = try domain.context(
      of: container.opened)
    try domain.setContext(context)
    let statements = Lock(0)
    interrupt(domain, for: end, in: container) { statements.withLock { $0 += 1 } }
    let script = "print('ready') pcall(function() \(Self.count) end)"
    let outcome = ScriptRunner(domain).run([ScriptSource(name: "script.lua", text: script)])
    #expect(outcome.status == (end == .interruption ? 130 : 3), "\(outcome)")
    #expect(statements.withLock { $0 } == (isStored ? 1 : 0))
    #expect(context.brokenInvariants() == [])
    try context.insert("P")
    try context.save()
    #expect(try context.count(FetchRequest("P")) == 61)
    #expect(context.brokenInvariants() == [])
  }

  /// Interrupts a run when SQLite has begun with the statement in question; without SQLite, shortly after the script began.
  private func interrupt(
    _ domain: ScriptDomain, for end: End, in container: PersistentContainer, _ note: @escaping @Sendable () -> Void
  ) {
    let interrupter = domain.state.interrupter
    guard let store = container.coordinator.persistentStores[0] as? SQLiteStore else {
      guard end == .interruption else { return }
      domain.state.output = LuaOutput { _, _ in
        Thread.detachNewThread {
          usleep(200_000)
          interrupter.interrupt()
        }
      }
      return
    }
    store.statements.listen { sql in
      guard sql.count > 300 else { return }
      note()
      if end == .interruption { interrupter.interrupt() }
    }
  }
}
