import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// Extensions reloaded at random among edits, saves, children and undo: data is unaffected, and derived values belong
/// to the last version that the contexts could adopt.
@Suite struct RandomFollowedReloadTests {
  private final class Run {
    private let bench: ReloadBench
    private let context: ManagedObjectContext
    private var objects: [(object: ManagedObject, text: String)] = []
    private var random: SplitMix
    /// The version that the contexts run, the latest version, whether the contexts can adopt it, and the last number.
    private var (running, announced, canFollow, last) = (1, 1, true, 1)
    private let observation: ExtensionObservation

    init(_ kind: StoreKind, seed: UInt64) throws {
      bench = try ReloadBench(kind, ["a.lua": ReloadBench.labelled(1)])
      context = try bench.context()
      context.undoManager = seed.isMultiple(of: 2) ? UndoManager() : nil
      random = SplitMix(seed)
      observation = bench.extensions.observeReloads { _ in }
    }

    private func number(_ count: Int) -> Int { random.next(count) }

    /// The contexts have completed an operation, after which they adopt the latest version.
    private func pass() { if canFollow { running = announced } }

    private func insert() throws {
      let text = "t\(number(1000))"
      objects.append((try context.insert("P", values: ["s": .string(text)]), text))
    }

    private func change() throws {
      guard !objects.isEmpty else { return }
      let place = number(objects.count)
      objects[place].text = "c\(number(1000))"
      try objects[place].object.setValue(.string(objects[place].text), forKey: "s")
    }

    private func delete() throws {
      guard objects.count > 3 else { return }
      try context.delete(objects.remove(at: number(objects.count)).object)
    }

    /// Makes a change and undoes it at once.
    private func undo() throws {
      guard let manager = context.undoManager, !objects.isEmpty else { return }
      try context.processPendingChanges()
      pass()
      let former = objects
      try change()
      try manager.undo()
      objects = former
    }

    private func changeInChild() throws {
      guard !objects.isEmpty else { return }
      let child = ManagedObjectContext(parent: context)
      let place = number(objects.count)
      objects[place].text = "k\(number(1000))"
      try child.object(with: objects[place].object.objectID).setValue(.string(objects[place].text), forKey: "s")
      try child.save()
      pass()
    }

    private func reload() throws {
      last += 1
      let hook = "on_reload = function() error('no') end,"
      switch number(4) {
      case 0:
        #expect(throws: (any Error).self) { try bench.reload("return return") }
      case 1:
        try bench.reload(ReloadBench.labelled(last, top: hook))
        (announced, canFollow) = (last, false)
      default:
        try bench.reload(ReloadBench.labelled(last))
        (announced, canFollow) = (last, true)
      }
    }

    private func edge() throws {
      switch number(3) {
      case 0: try context.save()
      case 1: try context.processPendingChanges()
      default: _ = try context.count(FetchRequest("P"))
      }
      pass()
      for (object, text) in objects {
        #expect(object["s"] == .string(text))
        #expect(object["label"] == .string("\(text)\(running)"))
      }
      let found = try context.fetch(FetchRequest("P", where: "label ENDSWITH '\(running)'"))
      #expect(found.count >= objects.count)
    }

    func step() throws {
      switch number(10) {
      case 0, 1: try insert()
      case 2, 3: try change()
      case 4: try delete()
      case 5: try undo()
      case 6: try changeInChild()
      case 7, 8: try reload()
      default: try edge()
      }
    }

    func finish() throws {
      try context.save()
      try edge()
      observation.cancel()
    }
  }

  @Test(arguments: StoreKind.allCases) func reloadsAmongAnythingElse(_ kind: StoreKind) throws {
    for seed in 0..<UInt64(Repetition.reloadSeeds.count) {
      let run = try Run(kind, seed: (TestLength.firstSeed.map { UInt64($0) } ?? 1) + seed)
      for _ in 0..<25 { try run.step() }
      try run.finish()
    }
  }
}
