import ArgumentParser
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// A fetch that writes its objects while it reads them.
///
/// Objects are read in batches and written at once, so that the memory does not depend on their
/// number. `fetch` and `export` share it.
struct FetchOutput {
  /// The context to read from.
  private let context: ManagedObjectContext
  /// The request.
  private let request: FetchRequest
  /// The columns.
  private let columns: FetchColumns
  /// The form of the output.
  private let form: OutputForm
  /// Whether the output is meant for an import.
  private let isExport: Bool

  /// An attribute that an extension adds is a column if `names` contains it. Without names, it is a column only with
  /// `includesAdded`.
  ///
  /// Throws for unknown names of columns.
  init(
    _ request: FetchRequest, columns names: [String]?, form: OutputForm, in context: ManagedObjectContext,
    includesAdded: Bool = true
  ) throws {
    columns = try FetchColumns(names, of: request.entityName, in: context.model, includesAdded: includesAdded)
    isExport = !includesAdded
    self.context = context
    self.form = form
    self.request = request
  }

  /// A description of how the fetch is answered. Each object is read with its whole row, whichever columns are
  /// selected. The destinations in the paths of the columns are prefetched.
  func explanation() throws -> String {
    let paths = columns.relationshipPaths
    let along = paths.isEmpty ? "" : "\nread along: \(paths.listed())"
    return try context.explain(request) + along
  }

  /// Returns the number of objects that were written. Throws if the fetch fails. If only single values cannot be read,
  /// the other values are written first, and then the command fails.
  @discardableResult func run(
    to destination: OutputDestination = .standardOutput, showing bar: ProgressBar? = nil
  ) throws -> Int {
    let count = bar?.isShown == true ? try context.count(request) : 0
    let writer = RowPrinter(
      form, columns: columns.names, floats: columns.floats, transformables: columns.transformables, to: destination)
    var unreadable = UnreadableValues()
    var done = 0
    func note(_ number: Int) throws {
      try destination.checkInterruption()
      done += number
      bar?.show(min(done, count), of: count)
    }
    let isWritten = try context.forEachRowBatch(matching: request) { rows in
      try note(rows.count)
      try write(rows, to: writer, &unreadable)
    }
    if !isWritten { try writeObjects(to: writer, &unreadable) { try note(1) } }
    try destination.checkInterruption()
    try writer.finish()
    bar?.end()
    let losses = writer.losses
    for message in losses.messages + (isExport ? losses.changes : []) { Terminal.complain("moonbase: \(message)") }
    if let summary = unreadable.summary {
      Terminal.complain("moonbase: \(summary)")
      throw ExitCode(ExitStatus.failed)
    }
    return done
  }

  /// Writes the columns from the rows themselves. This is possible if the rows contain the columns in their output form
  /// and no hook must be called.
  ///
  /// Extensions without transformers and hooks allow it too.
  private func write(_ rows: RowBatch, to writer: RowPrinter, _ unreadable: inout UnreadableValues) throws {
    if let slots = columns.slots, context.extensionRegistry.extensions.isEmpty,
      context.extensionRegistry.transformers.isEmpty
    {
      for row in rows {
        try writer.write(row, slots: slots) { place in unreadable.reading { try value(slots[place], place, of: row) } }
        try unreadable.checkEnding()
      }
      return
    }
    let objects = try context.objects(for: rows)
    try context.prefetch(columns.relationshipPaths, of: objects)
    for object in objects { try write(object, to: writer, &unreadable) }
  }

  /// The value of a column from a row.
  private func value(_ slot: Slot?, _ place: Int, of row: Snapshot) throws -> Value {
    guard let slot else { return .objectID(row.id) }
    let value = row.values[slot]
    // A value that is in a separate file or damaged is read by the object, which can describe the error.
    guard case .object = value, let object = try context.objects(for: [row]).first else { return value }
    return try Self.value(columns.names[place], of: object)
  }

  /// Writes the objects of the request one by one.
  private func writeObjects(
    to writer: RowPrinter, _ unreadable: inout UnreadableValues, _ note: () throws -> Void
  ) throws {
    var request = request
    request.relationshipKeyPathsForPrefetching = columns.relationshipPaths
    let found = try context.fetchedObjects(request)
    var place = 0
    while try found.reaches(place) {
      try note()
      if let object = try found.existingObject(at: place) { try write(object, to: writer, &unreadable) }
      place += 1
    }
  }

  /// Writes an object's row.
  private func write(_ object: ManagedObject, to writer: RowPrinter, _ unreadable: inout UnreadableValues) throws {
    let values = columns.names.map { name in unreadable.reading { try Self.value(name, of: object) } }
    try unreadable.checkEnding()
    try writer.write(values, of: object.objectID)
  }

  /// The value of an object for a column.
  ///
  /// Throws if the value cannot be read.
  static func value(_ name: String, of object: ManagedObject) throws -> Value {
    if name == FetchColumns.id { return .objectID(object.objectID) }
    let value = try object.value(forKeyPath: name)
    // If an extension's class has a text for its value, the text is written.
    guard case .object(let opaque) = value,
      let text = object.managedObjectContext?.extensionRegistry.valueClasses[opaque.className]?.text
    else {
      return value
    }
    return .string(try text(value))
  }
}

/// Values that a store cannot read in rows that it can read. They are reported, up to a number, and written as empty
/// values.
private struct UnreadableValues {
  /// The most values that are reported.
  private static let greatestCount = 20
  /// The number of values so far.
  private var count = 0
  /// The limit or the interruption that has ended the run.
  private var ending: (any Error)?

  /// Throws if the run has ended and nothing more can be read.
  func checkEnding() throws { if let ending { throw ending } }

  /// Runs `body`, and reports a failure. The result is then null.
  mutating func reading(_ body: () throws -> Value) -> Value {
    guard ending == nil else { return .null }
    do { return try body() } catch {
      guard ![ExitStatus.limit, ExitStatus.interrupted].contains(ExitStatus.status(for: error)) else {
        ending = error
        return .null
      }
      count += 1
      if count <= Self.greatestCount { Terminal.complain("moonbase: \(error)") }
      return .null
    }
  }

  /// The sentence about the values; nil for none.
  var summary: String? {
    switch count {
    case 0: nil
    case 1: "one value could not be read and was written as no value"
    default: "\(count) values could not be read and were written as no value"
    }
  }
}
