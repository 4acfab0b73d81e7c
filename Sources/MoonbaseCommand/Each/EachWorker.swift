import Moonbase
import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// Calls a function for objects and saves, on a thread, in a context and a Lua state of its own.
final class EachWorker {
  /// What all workers have in common.
  struct Setting: Sendable {
    let container: PersistentContainer
    let function: EachFunction
    let scripts: ScriptSettings
    let stores: StoreSettings
  }

  /// So often what somebody else saved meanwhile is read anew before a batch is halved, or an object fails.
  private static let greatestTries = 10
  /// So often those that a refused save names are set aside before the batch is halved.
  private static let greatestRounds = 3

  private let work: EachWork
  private let domain: ScriptDomain
  private let context: ManagedObjectContext
  private let function: ObjectFunction

  init(_ setting: Setting, _ work: EachWork) throws {
    self.work = work
    let domain = try setting.scripts.openDomain(forScriptsIn: setting.function.folder, setting.stores)
    self.domain = domain
    context = try domain.context(of: setting.container.opened)
    try domain.setContext(context)
    function = try domain.state.run { try setting.function.load(in: domain) }
    work.add(domain.state.interrupter)
  }

  func close() { domain.close() }

  /// Takes batches until there are no more. All of it is one run: limits hold for the whole.
  func run() throws {
    do {
      try domain.state.run {
        while let ids = work.next() { try process(ids) }
        try domain.state.flushFiles()
      }
    } catch {
      // Nothing stays half done: what was not saved is given up.
      try? context.rollback()
      throw error
    }
  }

  /// Saves what the function does with objects, but for those with which it cannot be saved.
  private func process(_ ids: [ManagedObjectID]) throws {
    var rest = ids
    var suspects: [ManagedObjectID] = []
    var rounds = 0
    while let refusal = try attempt(rest) {
      guard rest.count > 1 else {
        if let id = rest.first {
          work.noteFailure(id, refusal.description)
          work.note(EachReport(visited: 1))
        }
        break
      }
      let blamed = refusal.blamedIDs
      let others = rest.filter { !blamed.contains($0) }
      rounds += 1
      guard !others.isEmpty, others.count < rest.count, rounds <= Self.greatestRounds else {
        try process(Array(rest[..<(rest.count / 2)]))
        try process(Array(rest[(rest.count / 2)...]))
        break
      }
      suspects += rest.filter(blamed.contains)
      rest = others
    }
    // With others it could not be saved, and perhaps for what was done with another.
    for id in suspects { try process([id]) }
  }

  /// Calls the function for objects and saves. Gives why the save was refused; then everything is as it was.
  private func attempt(_ ids: [ManagedObjectID]) throws -> GraphError? {
    defer { context.stalenessInterval = -1 }
    var tries = 0
    while true {
      let (report, failures, visited) = try visit(ids)
      if work.isDry { try preview(visited) }
      do {
        if !work.isDry { try context.save() }
        try settle(report, failures, visited)
        return nil
      } catch let error as GraphError where !ObjectFunction.endsAll(error) {
        try context.rollback()
        try context.turnIntoFaults(visited)
        tries += 1
        guard error.isConflict, tries < Self.greatestTries, !work.isStopping else { return error }
        // Somebody else was quicker: all is read anew.
        context.stalenessInterval = 0
        usleep(UInt32(tries) * 1000)
      }
    }
  }

  private typealias Failure = (id: ManagedObjectID, text: String)

  /// Calls the function for each object. What fails is undone.
  private func visit(_ ids: [ManagedObjectID]) throws -> (EachReport, [Failure], [ManagedObject]) {
    var report = EachReport()
    var failures: [Failure] = []
    var visited: [ManagedObject] = []
    let objects = try context.loadObjects(with: ids)
    report.gone = ids.count - objects.count
    for object in objects {
      if work.isStopping { break }
      // The code of one before it may have deleted it.
      guard !object.isDeleted else {
        report.gone += 1
        continue
      }
      visited.append(object)
      do {
        try function.call(object, in: context)
      } catch  where !ObjectFunction.endsAll(error) {
        failures.append((object.objectID, ObjectFunction.text(of: error)))
      }
    }
    report.visited = visited.count
    report.inserted = context.insertedObjects.count
    report.deleted = context.deletedObjects.count
    report.changed = context.updatedObjects.count { $0.hasPersistentChangedValues }
    return (report, failures, visited)
  }

  /// What was done is saved, or given up for good: it is told, and the objects become faults, so that memory stays flat.
  private func settle(_ report: EachReport, _ failures: [Failure], _ visited: [ManagedObject]) throws {
    if work.isDry { try context.rollback() }
    for failure in failures { work.noteFailure(failure.id, failure.text) }
    for error in context.takeDidSaveErrors() {
      if let id = error.objectID { work.noteFailure(id, "it is saved, but then: \(error)") }
    }
    try context.turnIntoFaults(visited)
    work.note(report)
  }

  // MARK: Without saving

  private func preview(_ visited: [ManagedObject]) throws {
    for object in visited where object.isDeleted { work.show { "\(object.objectID): deleted" } }
    for object in visited where !object.isDeleted && object.hasPersistentChangedValues {
      try work.show { try ObjectDifference(object).text }
    }
    for object in context.updatedObjects + context.insertedObjects + context.deletedObjects {
      do { try object.validate() } catch let error as GraphError where !ObjectFunction.endsAll(error) {
        work.noteFailure(object.objectID, error.description)
      }
    }
  }
}

extension GraphError {
  /// The objects that it tells of.
  fileprivate var blamedIDs: Set<ManagedObjectID> {
    details.reduce(into: Set([objectID].compactMap(\.self))) { $0.formUnion($1.blamedIDs) }
  }

  /// Whether somebody else was quicker.
  fileprivate var isConflict: Bool { code == .mergeConflict || details.contains(where: \.isConflict) }
}
