import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// Saving the rows of a chunk, without the rows that the save refuses.
extension Importer {
  /// Rows being saved: their objects, and the faults of rejected rows.
  ///
  /// The objects of the rows, in order; nil for rejected, skipped and unchanged rows.
  struct Attempt {
    /// The faults by index of the row.
    var objects: [ManagedObject?] = []
    private(set) var faults: [Int: RowFault] = [:]
    /// The totals, which become those of the import if the save succeeds.
    var report: ImportReport
    /// The bytes of faults that are not charged yet.
    private var unweighed = 0

    /// An attempt that begins with these totals.
    init(report: ImportReport) { self.report = report }

    /// Rejects a row.
    mutating func reject(_ row: Int, _ fault: RowFault) {
      faults[row] = fault
      unweighed += fault.weight
    }

    /// Charges the memory of the faults added since the last call.
    mutating func weighFaults(_ memory: inout HostMemory) throws {
      guard unweighed > 0 else { return }
      try memory.hold(unweighed)
      unweighed = 0
    }
  }

  /// Saves the objects of rows and writes the rejected rows. Returns false if the rows must be tried again or
  /// separately.
  ///
  /// - Parameters:
  ///   - attempt: The objects to save. Rows that the save refuses are moved to its faults.
  ///   - range: The indexes of the rows in the chunk.
  ///   - ahead: Whether another thread writes, so that an error may appear later.
  ///
  /// Throws errors that end the import.
  func save(_ attempt: inout Attempt, _ range: Range<Int>, ahead: Bool) throws -> Bool {
    let mark = mark
    // An error that another thread finds later cannot be attributed to a row, so the rows are then saved again without
    // that thread.
    nameNewObjects(attempt.objects, range)
    defer { context.hostSettings.nameOfNewObject = nil }
    while true {
      try write(attempt, range)
      try rejects.flush()
      do {
        var done = attempt.report
        done.rejected += attempt.faults.count
        let last = chunk.rows[range.upperBound - 1]
        let change = bookmark?.change(from: noted, to: last, done, rejects.trace)
        if options.isDryRun {
          try tryOut()
        } else if ahead {
          try context.saveAhead(with: change)
        } else {
          try context.save(with: change)
        }
        report = done
        noted = last.end
        context.drainDidSaveErrors().forEach(didFailAfterSave)
        return true
      } catch let error where ImportFailure.isOfRows(error) {
        try rejects.cut(to: mark.rejectLength)
        if mayBeOvertaken, let others = OvertakenRows(error, of: attempt.objects, from: range.lowerBound),
          ahead || overtaken != nil
        {
          if overtaken != nil { overtaken = others }
          return false
        }
        if try drop(error, &attempt, range) { continue }
        guard range.count == 1 else { return false }
        try startAnew(at: mark)
        attempt.reject(range.lowerBound, ImportFailure.fault(of: error))
        attempt.report = report
        attempt.report.rows += 1
      }
    }
  }

  /// Makes errors name new objects by their lines instead of IDs that the objects will never have.
  private func nameNewObjects(_ objects: [ManagedObject?], _ range: Range<Int>) {
    context.hostSettings.nameOfNewObject = { [unowned self] object in
      objects.firstIndex { $0 === object }.map { "line \(chunk.rows[range.lowerBound + $0].line)" }
    }
  }

  /// Performs all steps of a save up to the commit.
  ///
  /// The change of the metadata throws at the last moment, so that a dry run finds every error of a
  /// save.
  private func tryOut() throws {
    let store = try context.coordinator.storeForNewObjects(of: entity)
    do { try context.save(with: MetadataChange(of: store) { _ in throw TriedOut() }) } catch is TriedOut {}
    try forgetObjects()
  }

  /// Ends the save of a dry run.
  private struct TriedOut: Error {}

  /// Writes the rejected rows to their file, before the save.
  private func write(_ attempt: Attempt, _ range: Range<Int>) throws {
    guard !attempt.faults.isEmpty else { return }
    try chunk.withFields { fields in
      for index in range {
        guard let fault = attempt.faults[index] else { continue }
        let row = chunk.rows[index]
        rejects.add(input.reader.names, { fields.field($0, of: row) }, line: row.line, columns.named(fault))
        if rejects.isFull { try rejects.flush() }
      }
    }
  }

  /// Removes the objects named by an error. Returns false if the error names none.
  ///
  /// Inserted objects are deleted, and updated objects get their stored values again.
  private func drop(_ error: any Error, _ attempt: inout Attempt, _ range: Range<Int>) throws -> Bool {
    var places: [ManagedObjectID: Int] = [:]
    for (index, object) in zip(range, attempt.objects) {
      guard let object else { continue }
      // Two rows have the same object, so either may be wrong.
      if places.updateValue(index, forKey: object.objectID) != nil { return false }
    }
    let errors = ImportFailure.details(of: error)
    guard !errors.isEmpty, errors.allSatisfy({ $0.objectID.map { places[$0] != nil } == true }) else { return false }
    forgetCorrectedKeys()
    for error in errors {
      guard let index = error.objectID.flatMap({ places[$0] }), let object = attempt.objects[index - range.lowerBound]
      else { continue }
      if object.isInserted {
        attempt.report.inserted -= 1
        try context.delete(object)
      } else {
        attempt.report.updated -= 1
        try context.refresh(object, mergeChanges: false)
      }
      attempt.objects[index - range.lowerBound] = nil
      let all = errors.filter { $0.objectID == error.objectID }
      attempt.reject(index, ImportFailure.fault(of: all))
    }
    return true
  }
}
