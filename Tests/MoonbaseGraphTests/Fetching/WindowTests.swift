import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

/// Offset and limit beside unsaved changes.
@Suite struct WindowTests {
  /// Compares with the complete result, which needs no window.
  @Test(arguments: StoreKind.withFolder, 1...Repetition.windowSeeds.count)
  func windowsOverUnsavedChangesAreThoseOfTheWholeResult(_ kind: StoreKind, _ seed: Int) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let people = try (0..<200).map { number in
      try context.insert("Person", values: ["firstName": .string("p\(number)"), "age": .int(Int64(number % 100))])
    }
    try context.save()
    var random = SplitMix(UInt64(seed))
    for person in people where random.next(3) == 0 {
      if random.next(4) == 0 { try context.delete(person) } else { person["age"] = .int(Int64(random.next(100))) }
    }
    for number in 0..<random.next(60) {
      try context.insert("Person", values: ["age": .int(Int64(random.next(100))), "firstName": .string("n\(number)")])
    }
    for format in ["age < 30", "TRUEPREDICATE", "age == 7", "firstName BEGINSWITH 'n'"] {
      var request = FetchRequest("Person", where: try Predicate(format: format))
      request.sortDescriptors = [SortDescriptor("age"), SortDescriptor("firstName")]
      let whole = try context.fetch(request)
      for (offset, limit) in [(0, 1), (0, 5), (3, 10), (40, 25), (190, 50), (500, 2), (5, 0)] {
        request.fetchOffset = offset
        request.fetchLimit = limit
        let rest = whole.dropFirst(offset)
        let expected = Array(limit > 0 ? rest.prefix(limit) : rest)
        #expect(try context.fetch(request) == expected)
        #expect(try context.fetchIDs(request) == expected.map(\.objectID))
        #expect(try context.count(request) == expected.count)
      }
    }
  }

  /// A fetch with a limit reads some rows more than it returns. As many rows are changed, or one more or less.
  @Test(arguments: StoreKind.withFolder, [false, true])
  func asManyAreFoundAsAreWantedHoweverManyChangedStandFirst(_ kind: StoreKind, deletes: Bool) throws {
    let bench = try StoreBench(kind)
    let writer = bench.context()
    for age in 0..<40 { try writer.insert("Person", values: ["age": .int(Int64(age))]) }
    try writer.save()
    var request = FetchRequest("Person", where: try Predicate(format: "age < 100"))
    request.sortDescriptors = [SortDescriptor("age")]
    let context = bench.context()
    var changed = 0
    for person in try context.fetch(request).prefix(20) {
      if deletes { try context.delete(person) } else { person["age"] = 120 }
      changed += 1
      if changed < 14 { continue }
      for (offset, limit) in [(0, 1), (0, 2), (1, 3)] {
        (request.fetchOffset, request.fetchLimit) = (offset, limit)
        let expected = (0..<limit).map { Value.int(Int64(changed + offset + $0)) }
        #expect(try context.fetch(request).map { $0["age"] } == expected, "\(changed), \(offset), \(limit)")
        #expect(try context.fetchIDs(request).count == limit && context.count(request) == limit)
        #expect(try context.fetchedObjects(request).map { $0["age"] } == expected)
      }
    }
  }
}
