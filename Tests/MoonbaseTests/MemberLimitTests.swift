import Moonbase
import MoonbaseLua
import MoonbasePlatform
import Testing

/// An owner with thousands of members: a script without memory for them ends before they are loaded, and the queried
/// objects are unchanged.
@Suite(.serialized) struct MemberLimitTests {
  private static let count = 24_000
  /// Less memory than half of the objects need, at 136 bytes each.
  private static let memory: UInt64 = 1 << 20

  /// Objects that count how many were made.
  private final class CountedItem: ManagedObject {
    static let made = Lock(0)

    required init(_ place: InitializationToken) {
      Self.made.withLock { $0 += 1 }
      super.init(place)
    }
  }

  enum Inverse: String, CaseIterable {
    case box, boxes
  }

  /// The text of the model: an item is in one box or in several.
  private static func text(_ inverse: Inverse) -> String {
    let back =
      inverse == .box ? "box = { to = 'Box', inverse = 'items' }" : "boxes = { to_many = 'Box', inverse = 'items' }"
    return """
      return { entities = {
        Box = {
          attributes = { n = "string" }, relationships = { items = { to_many = "Item", inverse = "\(inverse)" } } },
        Item = { class = "CountedItem", attributes = { n = "string" }, relationships = { \(back) } },
      } }
      """
  }

  /// A store with one box that has all items.
  private final class Bench {
    let container: PersistentContainer
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Members-\(UUID().uuidString)")

    init(_ inverse: Inverse = .box, isStored: Bool) throws {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let model = try LuaModelFile().read(ScriptSource(name: "model.lua", text: MemberLimitTests.text(inverse)))
      let file = folder.appendingPathComponent("s.sqlite")
      container = try PersistentContainer(model: model, store: isStored ? .sqlite(file) : .inMemory, extensions: [])
      container.coordinator.register(CountedItem.self, forClassName: "CountedItem")
      let context = try ManagedObjectContext(container.coordinator, extensions: container.extensions)
      let box = try context.insert("Box")
      for _ in 0..<MemberLimitTests.count { try box.add(try context.insert("Item"), to: "items") }
      try context.save()
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Runs a script whose `box` has all items, and then a script that needs almost no memory, with a limit of `memory`
    /// bytes each.
    func run(_ script: String, memory: UInt64, _ look: (Run) throws -> Void) throws {
      let domain = try ScriptDomain(limits: LuaLimits(memory: memory))
      defer { domain.close() }
      let context = try domain.context(of: container.opened)
      try domain.setContext(context)
      let box = try #require(try context.fetch(FetchRequest("Box")).first)
      CountedItem.made.withLock { $0 = 0 }
      let text = "local c = moonbase.context local box = c:fetch('Box'):first() \(script)"
      let outcome = ScriptRunner(domain).run([ScriptSource(name: "script.lua", text: text)])
      let made = CountedItem.made.withLock { $0 }
      try look(Run(status: outcome.status, peak: domain.state.memoryPeak, made: made, context: context, box: box))
      #expect(ScriptRunner(domain).run([ScriptSource(name: "next.lua", text: "return 1")]).status == 0)
    }
  }

  private struct Run {
    let status: Int32
    let peak: Int
    let made: Int
    let context: ManagedObjectContext
    let box: ManagedObject
  }

  @Test(arguments: [false, true])
  func objectsAreWeighedBeforeTheyAreMade(isStored: Bool) throws {
    let bench = try Bench(isStored: isStored)
    for script in [
      "box.items:all()", "box.items:each()", "pairs(box.items)", "box.items = {}", "c:fetch('Item'):all()",
      "c:fetch('Item'):batch(10):all()", "c:fetch('Item'):sort('n'):all()",
      "c:fetch('Box'):prefetch('items'):all()[1].items:all()", "c:fetch('Box'):prefetch('items.box'):all()",
    ] {
      try bench.run("pcall(function() \(script) end)", memory: Self.memory) { run in
        #expect(run.status == 3, "\(script)")
        #expect(run.made < 600, "\(script)")
        #expect(run.peak < 2 * Int(Self.memory) + 1 << 20, "\(script)")
        #expect(run.context.brokenInvariants() == [])
      }
    }
  }

  @Test(arguments: [false, true])
  func destinationsThatEachHaveManyOwnersAreWeighedToo(isStored: Bool) throws {
    let bench = try Bench(.boxes, isStored: isStored)
    for script in ["box.items = {}", "c:fetch('Box'):prefetch('items.boxes'):all()"] {
      try bench.run(script, memory: Self.memory) { run in
        #expect(run.status == 3 && run.made < 600, "\(script)")
      }
    }
    try deleteBox(of: bench, making: 0..<6000)
  }

  /// The records that a deletion keeps for each destination are charged one by one.
  @Test(arguments: [false, true])
  func aDeletionEndsOnItsWay(isStored: Bool) throws {
    try deleteBox(of: try Bench(isStored: isStored), making: 0..<8000)
  }

  private func deleteBox(of bench: Bench, making counts: Range<Int>) throws {
    try bench.run("c:delete(box) c:process_pending_changes()", memory: Self.memory) { run in
      #expect(run.status == 3)
      #expect(counts.contains(run.made))
      try run.context.rollback()
      #expect(try run.box.objectIDs(forRelationshipNamed: "items").count == Self.count)
      #expect(run.context.brokenInvariants() == [])
    }
  }

  /// The program has more memory, and later reads the list that the script could not.
  @Test(arguments: [false, true])
  func aListThatIsTooLongStaysUnread(isStored: Bool) throws {
    let bench = try Bench(isStored: isStored)
    for script in ["print(#box.items)", "c:fetch('Box'):prefetch('items'):all()"] {
      try bench.run("pcall(function() \(script) end)", memory: 256 << 10) { run in
        #expect(run.status == 3 && run.made == 0, "\(script)")
        let isUnread = try run.box.hasFault(forRelationshipNamed: "items")
        #expect(isUnread)
        #expect(try run.box.objectIDs(forRelationshipNamed: "items").count == Self.count)
        // Objects read by the program would count for the next script.
        try run.context.reset()
      }
    }
    try bench.run("c:fetch('Box'):prefetch('items'):all()", memory: 4 << 20) { run in
      // The rows are read without making objects.
      #expect(run.status == 0 && run.made == 0)
      let isUnread = try run.box.hasFault(forRelationshipNamed: "items")
      #expect(!isUnread)
    }
  }
}
