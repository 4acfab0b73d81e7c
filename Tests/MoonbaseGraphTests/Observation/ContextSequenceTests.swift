import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// Asynchronous sequences of the IDs that a context changed and saved, for tasks on other executors.
@Suite struct ContextSequenceTests {
  @Test(arguments: StoreKind.allCases) func changesAndSavesAreToldByIDs(_ kind: StoreKind) async throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let people = try ["a", "b"].map { try context.insert("Person", values: ["firstName": .string($0)]) }
    try context.save()
    var changes = context.didChangeObjectIDs.makeAsyncIterator()
    var upcoming = context.willSaveObjectIDs.makeAsyncIterator()
    var saves = context.didSaveObjectIDs.makeAsyncIterator()
    let new = try context.insert("Person")
    let temporary = new.objectID
    try people[0].setValue("x", forKey: "firstName")
    try context.delete(people[1])
    let gone = people[1].objectID
    try context.save()
    let (change, will, did) = (await changes.next(), await upcoming.next(), await saves.next())
    #expect(change == ChangedObjectIDs(inserted: [temporary], updated: [people[0].objectID], deleted: [gone]))
    #expect(will == change && temporary.isTemporaryID)
    #expect(did == SavedObjectIDs(inserted: [new.objectID], updated: [people[0].objectID], deleted: [gone]))
    #expect(!new.objectID.isTemporaryID)
    // Saves of other contexts are not in the sequence.
    let other = bench.context()
    try other.insert("Person")
    try other.save()
    try new.setValue("y", forKey: "firstName")
    try context.save()
    #expect(await saves.next() == SavedObjectIDs(updated: [new.objectID]))
    withExtendedLifetime(bench) {}
  }

  @Test(arguments: StoreKind.allCases) func aSaveThatFailsIsToldBeforeOnly(_ kind: StoreKind) async throws {
    let bench = try StoreBench(kind)
    let fails = Switch(1)
    let context = bench.context { $0.willSave = { _ in try fails.failIfOn() } }
    var upcoming = context.willSaveObjectIDs.makeAsyncIterator()
    var saves = context.didSaveObjectIDs.makeAsyncIterator()
    let new = try context.insert("Person")
    let temporary = new.objectID
    #expect(throws: (any Error).self) { try context.save() }
    fails.value = 0
    try context.save()
    try context.save()
    #expect(await upcoming.next()?.inserted == [temporary])
    #expect(await upcoming.next()?.inserted == [temporary])
    #expect(await saves.next()?.inserted == [new.objectID])
    // A save without changes is not in the sequence.
    try context.reset()
    withExtendedLifetime(context) {}
  }

  @Test func aSaveTellsItsObjectsAndTheirIDs() throws {
    let bench = try StoreBench(.memory)
    let context = bench.context()
    let old = try context.insert("Person")
    try context.save()
    var told: [SavedObjectIDs] = []
    let observation = context.observeSaves(didSave: { told.append($0.objectIDs) })
    let (new, gone) = (try context.insert("Person"), old.objectID)
    try context.delete(old)
    try context.save()
    #expect(told == [SavedObjectIDs(inserted: [new.objectID], deleted: [gone])])
    withExtendedLifetime(observation) {}
  }

  /// A task on another executor reads the sequence, which ends with the context.
  @Test(arguments: StoreKind.allCases, [false, true])
  func aContextThatGoesEndsItsSequences(_ kind: StoreKind, closes: Bool) async throws {
    let bench = try StoreBench(kind)
    var background: BackgroundContext? = try BackgroundContext(bench.coordinator)
    let (changes, upcoming, saves) = try await #require(background).perform {
      ($0.didChangeObjectIDs, $0.willSaveObjectIDs, $0.didSaveObjectIDs)
    }
    let counts = Task {
      var counts = [0, 0, 0]
      for await change in changes { counts[0] += change.inserted.count }
      for await save in upcoming { counts[1] += save.inserted.count }
      for await save in saves { counts[2] += save.inserted.count }
      return counts
    }
    for _ in 0..<3 {
      try await background?.perform { context in
        try context.insert("Person")
        try context.save()
      }
    }
    if closes {
      try await background?.close()
      let late = try await #require(background).perform { $0.didChangeObjectIDs }
      for await _ in late { Issue.record("a closed context tells nothing") }
    } else {
      background = nil
    }
    #expect(await counts.value == [3, 3, 3])
    withExtendedLifetime(background) {}
  }

  @Test func aTaskThatIsCancelledEndsItsSequence() async throws {
    let context = try StoreBench(.memory).context()
    let changes = context.didChangeObjectIDs
    let task = Task {
      for await _ in changes {}
      return true
    }
    task.cancel()
    #expect(await task.value)
    withExtendedLifetime(context) {}
  }

  /// After a sequence is released, the next event no longer costs anything for it.
  @Test func withoutReadersNothingIsNoted() throws {
    let context = try StoreBench(.memory).context()
    do {
      let sequences = (context.didChangeObjectIDs, context.didSaveObjectIDs)
      try context.insert("Person")
      try context.save()
      #expect(context.observations.changeEvent != nil && context.tellsOfSaves)
      withExtendedLifetime(sequences) {}
    }
    try context.insert("Person")
    try context.save()
    #expect(context.observations.changeEvent == nil && context.journal.base == 0 && !context.tellsOfSaves)
    #expect(context.observations.sequences == nil)
    // An observer of the context still receives changes.
    var count = 0
    let observation = context.observeChanges { _ in count += 1 }
    do { _ = context.didChangeObjectIDs }
    try context.insert("Person")
    try context.save()
    #expect(count == 1)
    observation.cancel()
    #expect(context.observations.changeEvent == nil)
  }

  @Test func whatNobodyReadsIsBounded() async throws {
    let context = try StoreBench(.memory).context()
    let changes = context.didChangeObjectIDs
    let people = try (0..<3).map { _ in try context.insert("Person") }
    try context.processPendingChanges()
    for number in 0..<200 {
      try people[0].setValue(.int(Int64(number % 100)), forKey: "age")
      try context.processPendingChanges()
    }
    try context.delete(people[2])
    let ids = people.map(\.objectID)
    try context.processPendingChanges()
    let late = try context.insert("Person")
    try context.processPendingChanges()
    var all: [ChangedObjectIDs] = []
    var iterator = changes.makeAsyncIterator()
    while let next = await iterator.next(), all.count < 100 {
      all.append(next)
      if next.inserted.contains(late.objectID) { break }
    }
    #expect(all.count <= 65 && all[0].inserted.contains(ids[0]) && all[0].updated == [ids[0]])
    #expect(all.contains { $0.deleted == [ids[2]] })
    let news = ChangedObjectIDs(all: [
      ChangedObjectIDs(inserted: [ids[0], ids[1]], refreshed: [ids[2]]),
      ChangedObjectIDs(updated: [ids[0]], deleted: [ids[1], ids[2]]), ChangedObjectIDs(inserted: [ids[2]]),
    ])
    #expect(
      news == ChangedObjectIDs(inserted: [ids[0], ids[2]], updated: [ids[0]], deleted: [ids[1]], refreshed: [ids[2]]))
    let anew = ChangedObjectIDs(all: [news, ChangedObjectIDs(isInvalidated: true), ChangedObjectIDs(updated: [ids[1]])])
    #expect(anew == ChangedObjectIDs(updated: [ids[1]], isInvalidated: true))
    var few = News<ChangedObjectIDs>()
    // Many IDs at a time: every 64 additions are merged.
    for start in stride(from: 1, through: Int64(News<ChangedObjectIDs>.greatestIDCount), by: 1024) {
      let keys = start..<(start + 1024)
      few.add(
        ChangedObjectIDs(
          updated: keys.map { ManagedObjectID(store: StoreNumber("x"), entity: Symbol("Person"), key: $0) }))
    }
    #expect(few.elements.count == 64)
    few.add(ChangedObjectIDs(updated: [ManagedObjectID(store: StoreNumber("x"), entity: Symbol("Person"), key: .max)]))
    #expect(few.elements == [.anything] && few.elements[0].isUnspecified)
  }
}
