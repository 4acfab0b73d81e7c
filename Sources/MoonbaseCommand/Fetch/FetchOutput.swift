import ArgumentParser
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// A fetch that is written as it is walked over.
struct FetchOutput {
  private let context: ManagedObjectContext
  private let request: FetchRequest
  private let columns: FetchColumns
  private let form: OutputForm
  /// Whether what is written is to be imported again.
  private let isExport: Bool

  /// Attributes that extensions add to an entity are columns where `names` has them. Without names they are columns
  /// only with `includesAdded`.
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

  /// How it is answered. An object is read with its whole row, whichever columns are asked for; what they lead through is read along.
  func explanation() throws -> String {
    let paths = columns.relationshipPaths
    let along = paths.isEmpty ? "" : "\nread along: \(paths.listed())"
    return try context.explain(request) + along
  }

  /// Returns how many objects were written. Throws for a fetch that failed; where single values could not be read, the
  /// command has failed when the others are written.
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

  /// From the rows themselves, where these have the columns as they are written and no hook is to be called.
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

  private func value(_ slot: Slot?, _ place: Int, of row: Snapshot) throws -> Value {
    guard let slot else { return .objectID(row.id) }
    let value = row.values[slot]
    // What lies in a file, or is damaged: an object reads it, and knows what to say of it.
    guard case .object = value, let object = try context.objects(for: [row]).first else { return value }
    return try Self.value(columns.names[place], of: object)
  }

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

  private func write(_ object: ManagedObject, to writer: RowPrinter, _ unreadable: inout UnreadableValues) throws {
    let values = columns.names.map { name in unreadable.reading { try Self.value(name, of: object) } }
    try unreadable.checkEnding()
    try writer.write(values, of: object.objectID)
  }

  /// The value of a column.
  static func value(_ name: String, of object: ManagedObject) throws -> Value {
    if name == FetchColumns.id { return .objectID(object.objectID) }
    let value = try object.value(forKeyPath: name)
    // A class of an extension says what stands for its value.
    guard case .object(let opaque) = value,
      let text = object.managedObjectContext?.extensionRegistry.valueClasses[opaque.className]?.text
    else {
      return value
    }
    return .string(try text(value))
  }
}

/// Values that a store cannot give, of rows that it can: each is told, up to a number, and written as no value.
private struct UnreadableValues {
  private static let greatestCount = 20
  private var count = 0
  /// The limit, or the interruption, at which the run is over.
  private var ending: (any Error)?

  /// Throws where the run is over: nothing more can be read.
  func checkEnding() throws { if let ending { throw ending } }

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

  var summary: String? {
    switch count {
    case 0: nil
    case 1: "one value could not be read and was written as no value"
    default: "\(count) values could not be read and were written as no value"
    }
  }
}
