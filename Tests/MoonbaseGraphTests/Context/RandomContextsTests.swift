import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// Random operations of several contexts on the same rows. A save succeeds as a whole or changes nothing. Every
/// reference in the store has a destination and an inverse, whatever versions the contexts have read.
@Suite struct RandomContextsTests {
  private final class Bench {
    let bench: StoreBench
    /// Two contexts that share a row cache, and one that does not.
    let contexts: [ManagedObjectContext]
    private var numbers: [[ManagedObjectID: Int64]] = [[:], [:], [:]]
    private var count = 0
    private var random: SplitMix

    init(_ kind: StoreKind, seed: Int) throws {
      bench = try StoreBench(kind, Pairs.model())
      contexts = [bench.context(), bench.context(), bench.stranger()]
      random = SplitMix(UInt64(seed))
      for _ in 0..<5 { try insert(0) }
      try contexts[0].save()
    }

    func step() throws {
      let index = Int.random(in: 0..<3, using: &random)
      let context = contexts[index]
      guard let node = try pick(context), let other = try pick(context) else { return try insert(index) }
      do {
        switch Int.random(in: 0..<22, using: &random) {
        case 0: try insert(index)
        case 1, 2:
          count += 1
          try node.setValue(.int(Int64(count)), forKey: "number")
          numbers[index][node.objectID] = Int64(count)
        case 3...9: try link(node, other)
        case 10: try context.delete(node)
        case 11, 12: try giveUp(node, index)
        case 13: try context.processPendingChanges()
        case 14:
          try context.rollback()
          numbers[index] = [:]
        case 15: try prefetch(context)
        default: try save(index, ahead: Int.random(in: 0..<3, using: &random) == 0)
        }
        expectOrder(in: context)
      } catch let error as GraphError where [.objectNotFound, .invalidObject, .invalidValue].contains(error.code) {
        // The object was deleted, by another context or by this one.
      }
    }

    private func insert(_ index: Int) throws {
      count += 1
      try contexts[index].insert(count % 3 == 0 ? "Leaf" : "Node", values: ["name": .string("n\(count)")])
    }

    private func pick(_ context: ManagedObjectContext) throws -> ManagedObject? {
      try context.fetch(FetchRequest("Node")).randomElement(using: &random)
    }

    private func link(_ node: ManagedObject, _ other: ManagedObject) throws {
      guard let name = Pairs.inverses.keys.sorted().randomElement(using: &random) else { return }
      let isLess = Int.random(in: 0..<3, using: &random) == 0
      if !Pairs.toMany.contains(name) {
        try node.setObject(isLess ? nil : other, forKey: name)
      } else if isLess {
        try node.remove(other, from: name)
      } else {
        try node.add(other, to: name)
      }
    }

    private func giveUp(_ node: ManagedObject, _ index: Int) throws {
      let merges = Bool.random(using: &random)
      if !merges { numbers[index][node.objectID] = nil }
      try contexts[index].refresh(node, mergeChanges: merges)
    }

    private func prefetch(_ context: ManagedObjectContext) throws {
      var request = FetchRequest("Node")
      let names = Pairs.inverses.keys.sorted().shuffled(using: &random)
      request.relationshipKeyPathsForPrefetching = Array(names.prefix(3))
      for node in try context.fetch(request) {
        for name in Pairs.toMany where Bool.random(using: &random) { _ = try node.objects(forKey: name) }
      }
    }

    /// Invariants of each context. Values of other contexts' saves, read at different times, may contradict each other
    /// until they are used.
    private func expectOrder(in context: ManagedObjectContext) {
      #expect(context.brokenInvariants().filter { !$0.hasSuffix("does not point back") } == [])
    }

    private func save(_ index: Int, ahead: Bool) throws {
      let context = contexts[index]
      let before = try Pairs.links(in: bench.stranger())
      do {
        if ahead {
          try context.saveAhead()
          try context.finishSave()
        } else {
          try context.save()
        }
        try expectNumbers(index)
      } catch let error as GraphError {
        #expect(error.code == .mergeConflict)
        #expect(try Pairs.links(in: bench.stranger()) == before)
        // Reads the rows again, or returns to those already read.
        if Bool.random(using: &random) { try context.reset() } else { try context.rollback() }
      }
      numbers[index] = [:]
      #expect(try Pairs.broken(in: bench.stranger()) == [])
    }

    private func expectNumbers(_ index: Int) throws {
      let fresh = bench.stranger()
      for (id, number) in numbers[index] where !id.isTemporaryID {
        guard let node = try fresh.existingObject(with: id) else { continue }
        #expect(node["number"] == .int(number))
      }
    }
  }

  @Test(arguments: StoreKind.allCases, 1...Repetition.contextSeeds.count)
  func theStoreStaysWhole(_ kind: StoreKind, seed: Int) throws {
    let bench = try Bench(kind, seed: seed)
    for _ in 0..<150 { try bench.step() }
  }
}
