package import MoonbaseGraph
package import MoonbaseModel
import MoonbasePlatform
package import MoonbaseScripting

/// Imports rows into a store through a context: values are converted for the model, rules and hooks apply, and a row
/// that fails is rejected while the import continues.
///
/// Rows are saved in chunks, each in a single transaction together with the position in the input up to which it is
/// complete (`Ledger`). So an import that is killed at any moment and run again processes each row once.
///
/// An importer is used once: `run`, then `close`. It belongs to the thread of its context; with
/// another thread writing, the next chunk is read while the previous one is saved.
package final class Importer {
  /// The context into which objects are inserted.
  let context: ManagedObjectContext
  /// The entity of the rows.
  let entity: ResolvedEntity
  let options: ImportOptions
  /// The meaning of the columns, which grow with JSON.
  var columns: ImportColumns
  let conversion: FieldConversion
  let input: ImportInput
  /// The file of rejected rows.
  let rejects: RejectFile
  let bookmark: ImportBookmark?
  /// Transforms rows (`--map`).
  let script: ImportScript?
  /// Finds the object of a row.
  var existing: KeyLookup?
  /// The lookups by attributes that rows of the chunk may change.
  var changing: [KeyLookup] = []
  private let insertsWithoutHooks: Bool
  let readsWithoutHooks: Bool
  /// Whether the rows of the chunk only insert objects with attributes.
  private var isPlain = false

  /// The totals so far.
  package internal(set) var report: ImportReport
  /// Called between chunks with the position in the input. Returning true ends the import.
  package var progress: (_ offset: Int64, ImportReport) -> Bool = { _, _ in false }

  /// Receives the errors of hooks after the save of an object.
  package var didFailAfterSave: (GraphError) -> Void = { _ in }

  /// The rows being imported.
  var chunk = StagedRows()
  /// The error that ended reading the input.
  private var ending: InputError?
  /// The chunk that another thread may be writing.
  private var former: (rows: StagedRows, mark: Mark)?
  /// The position last recorded in the store.
  var noted: Int64?

  /// An import of an input into an entity, which continues at the bookmark.
  package init(
    _ entity: ResolvedEntity, from input: ImportInput, in context: ManagedObjectContext, options: ImportOptions,
    script: ImportScript? = nil, bookmark: ImportBookmark?, replacesRejects: Bool
  ) throws {
    guard !entity.isAbstract else {
      throw ImportError(message: "\(entity.name) is abstract: import into one of its subentities")
    }
    (self.entity, self.input, self.context, self.options, self.script) = (entity, input, context, options, script)
    self.bookmark = bookmark
    columns = ImportColumns(
      entity, in: context.model, map: script?.columns ?? [:], ignored: script?.ignoredColumns ?? [],
      computed: try context.computedSlots(of: entity))
    let classes = try Self.classes(of: entity, in: context)
    let hasTextsAlone = input.format == .csv || input.format == .tsv
    conversion = FieldConversion(dates: options.dates, hasTextsAlone: hasTextsAlone) { text, attribute in
      if let parse = classes[attribute.name]?.parse { return try parse(text) }
      return try attribute.valueClassName.flatMap { try ScriptDomain.of(context)?.value(text, ofClass: $0) }
    }
    insertsWithoutHooks = try context.insertsWithoutHooks(entity) && script == nil
    readsWithoutHooks = try context.readsWithoutHooks(entity)
    report = bookmark?.report ?? ImportReport()
    noted = bookmark?.noted
    rejects = try RejectFile(
      input.rejectPath, input.rejectForm, keeping: bookmark?.rejects ?? RejectTrace(), replaces: replacesRejects
    ) { try bookmark?.note(rejectFile: $0) }
    do {
      if let bookmark, bookmark.offset > 0 { try input.reader.skip(to: bookmark.offset, line: bookmark.line) }
    } catch let error as InputError {
      throw ImportInput.error(error, input.path)
    }
    try resolveNewColumns()
    try naming { try findKeys() }
  }

  /// The ignored columns of derived attributes.
  package var derivedColumns: [String] { columns.derived }

  /// The extension classes of an entity's attributes, by attribute name.
  private static func classes(
    of entity: ResolvedEntity, in context: ManagedObjectContext
  ) throws -> [String: ValueClass] {
    var result: [String: ValueClass] = [:]
    for slot in entity.attributeSlots {
      let property = entity.properties[slot]
      if let found = try context.valueClass(of: property, in: entity) { result[property.name] = found }
    }
    return result
  }

  /// Runs a body whose errors name the input.
  private func naming(_ body: () throws -> Void) throws {
    do { try body() } catch let error as ImportError {
      throw ImportError(message: "\(input.path ?? "standard input"): \(error.message)")
    }
  }

  /// Resolves the attributes of `--upsert`.
  private func findKeys() throws {
    guard !options.keys.isEmpty else { return }
    let properties = try options.keys.map { name in
      guard let property = entity.property(name) else { throw GraphError.unknownProperty(name, of: entity) }
      guard property.attribute != nil, !property.isTransient else {
        throw ImportError(message: "--upsert: \(entity.name).\(name) is no attribute that is stored")
      }
      return property
    }
    // The keys in JSON objects and script results are known only when they are read.
    if script?.changesRows != true, input.format == .csv || input.format == .tsv {
      for property in properties where columns.column(of: property) == nil {
        throw ImportError(message: "--upsert: the file has no column for \(entity.name).\(property.name)")
      }
    }
    existing = KeyLookup(entity, properties)
  }

  /// Resolves new columns of the input.
  private func resolveNewColumns() throws {
    // The columns of a script's result have their own names.
    guard script?.changesRows != true else { return }
    // The columns of csv and of the first object are checked before any row is imported; unknown keys of a later object
    // are the fault of its row.
    guard input.reader.names.count > columns.names.count else { return }
    let isFirst = columns.names.isEmpty
    try naming {
      // A JSON object may have the missing columns later.
      if isFirst, input.format == .csv || input.format == .tsv {
        try columns.requireMapped(among: input.reader.names)
      }
      try columns.add(input.reader.names, refusing: report.rows == 0 && chunk.isEmpty)
    }
  }

  /// Imports all rows. Throws an error of the input as a whole or of the store. Rows saved by then stay saved.
  ///
  /// With `progress` the caller may end the run between chunks; the position is saved. Errors of
  /// the input are thrown after all rows before them are saved.
  /// The totals count only saved rows then.
  package func run() throws {
    do { try importAll() } catch {
      try? finishSaveOfFormer()
      throw error
    }
  }

  private func importAll() throws {
    if let bookmark { noted = try bookmark.begin(report) }
    while try readChunk() {
      try importChunk()
      if progress(chunk.rows.last?.end ?? 0, report) { break }
      swap()
    }
    try finishFormer()
    // All rows read before are saved.
    if case .interrupted? = ending { return }
    if let ending { throw ImportInput.error(ending, input.path) }
  }

  /// Removes the bookmark of the completed import.
  package func close() throws {
    guard !options.isDryRun, let bookmark else { return }
    try bookmark.remove()
  }

  /// Makes the current chunk the former one, with reuse of memory.
  private func swap() {
    guard var rows = former?.rows else { return chunk = StagedRows() }
    // The chunk becomes the former one; its predecessor is saved, so its memory is reused.
    rows.removeAll()
    chunk = rows
  }

  // MARK: Reading

  /// Returns false at the end of the input.
  ///
  /// A chunk has at most `chunkSize` rows and about 8 MiB.
  private func readChunk() throws -> Bool {
    chunk.removeAll()
    while ending == nil, chunk.rows.count < options.chunkSize, chunk.weight < 8 << 20 {
      do {
        guard try input.reader.next() else { break }
        try resolveNewColumns()
        chunk.append(input.reader)
      } catch let error as InputError {
        guard case .malformed(let what, _) = error else {
          ending = error
          break
        }
        let record = input.reader.record
        let end = record.lastIndex { $0 != 10 && $0 != 13 }.map { $0 + 1 } ?? record.startIndex
        let text = String(decoding: record[..<end], as: UTF8.self)
        chunk.append(input.reader, fault: RowFault(reason: what, record: Self.mendable(text)))
      }
    }
    return !chunk.isEmpty
  }

  /// The record in a form that can be read again from a reject file: a NUL byte is replaced by its picture.
  private static func mendable(_ record: String) -> String {
    record.utf8.contains(0) ? record.replacing("\0", with: "\u{2400}") : record
  }

  // MARK: Chunks

  /// Records rows to repeat, while rows are saved that may be repeated.
  var overtaken: OvertakenRows?

  /// Whether rows find objects by keys.
  var mayBeOvertaken: Bool { existing != nil || options.createsMissing }

  /// A state of the import to return to.
  struct Mark {
    var rejectLength: Int64
    var report: ImportReport
    var noted: Int64?
  }

  var mark: Mark { Mark(rejectLength: rejects.length, report: report, noted: noted) }

  /// Imports the current chunk, and repeats it carefully if that fails.
  private func importChunk() throws {
    let mark = mark
    if try insertAndSave(0..<chunk.rows.count, ahead: true) {
      if !options.isDryRun { former = (chunk, mark) }
      return
    }
    // The failure is of the former chunk, or cannot be attributed to a row, so both are repeated in smaller steps.
    let former = former
    self.former = nil
    try startAnew(at: former?.mark ?? mark)
    if let former {
      let current = chunk
      chunk = former.rows
      try importByHalves(0..<chunk.rows.count)
      chunk = current
    }
    try importByHalves(0..<chunk.rows.count)
  }

  /// Waits for the thread that writes, and repeats its chunk carefully after an error.
  private func finishFormer() throws {
    guard let former else { return }
    do {
      try finishSaveOfFormer()
      self.former = nil
    } catch let error where ImportFailure.isOfRows(error) {
      self.former = nil
      try startAnew(at: former.mark)
      chunk = former.rows
      try importByHalves(0..<chunk.rows.count)
    }
  }

  /// Waits for the save of the former chunk. If it fails for another reason than the rows, the totals are those before
  /// that chunk.
  private func finishSaveOfFormer() throws {
    guard let former else { return }
    do { try context.finishSave() } catch {
      if !ImportFailure.isOfRows(error) { (report, self.former) = (former.mark.report, nil) }
      throw error
    }
  }

  /// Returns to a mark, with an empty context.
  func startAnew(at mark: Mark) throws {
    try rejects.cut(to: mark.rejectLength)
    (report, noted) = (mark.report, mark.noted)
    try forgetObjects()
  }

  /// Resets the context and the lookups.
  func forgetObjects() throws {
    try context.reset()
    existing?.forgetAll()
    for lookup in columns.lookups { lookup.forgetAll() }
  }

  /// Saves rows by halves, down to single rows: a failure that cannot be attributed otherwise is the fault of the row
  /// that fails alone.
  private func importByHalves(_ range: Range<Int>) throws {
    let mark = mark
    if try importWithRetries(range, at: mark) { return }
    try startAnew(at: mark)
    let middle = range.lowerBound + range.count / 2
    try importByHalves(range.lowerBound..<middle)
    try importByHalves(middle..<range.upperBound)
  }

  /// Saves rows. If another program changed their objects meanwhile, the objects are read again and the rows are
  /// repeated, at most ten times. Rows that collide with the same unique values twice are not repeated.
  private func importWithRetries(_ range: Range<Int>, at mark: Mark) throws -> Bool {
    defer { context.stalenessInterval = nil }
    var former: Set<Int> = []
    for round in 1...Self.greatestRounds {
      overtaken = OvertakenRows()
      defer { overtaken = nil }
      if try insertAndSave(range, ahead: false) { return true }
      guard let rows = overtaken?.rows, !rows.isEmpty else { return false }
      try startAnew(at: mark)
      if overtaken?.areValues == true, rows == former { break }
      former = rows
      context.stalenessInterval = .zero
      usleep(UInt32(round) * 1000)
    }
    // A conflict that remains now is the rows' own fault.
    return try insertAndSave(range, ahead: false)
  }

  private static let greatestRounds = 10

  /// Inserts rows and saves them. Returns false for a failure that cannot be attributed to a row; throws an error that
  /// ends the import.
  private func insertAndSave(_ range: Range<Int>, ahead: Bool) throws -> Bool {
    var attempt = Attempt(report: report)
    attempt.objects.reserveCapacity(range.count)
    isPlain = script?.changesRows != true && existing == nil && columns.areAttributes
    // The faults of rejected rows, and the results of a map, are held for all rows of the chunk.
    var memory = HostMemory()
    try chunk.withFields { fields in
      if isPlain {
        for index in range {
          try importRow(index, &attempt) { .fields($0, fields) }
          try attempt.weighFaults(&memory)
        }
        return
      }
      // Without a map the fields of a row are its values.
      let hasSources = script?.changesRows == true
      var sources: [Int: RowSource] = [:]
      for index in range where hasSources {
        let source = try self.source(of: index, fields, &attempt)
        sources[index] = source
        try memory.hold(source?.weight ?? 0)
        try attempt.weighFaults(&memory)
      }
      func source(_ index: Int) -> RowSource? {
        if hasSources { return sources[index] }
        let row = chunk.rows[index]
        return row.fault == nil ? .fields(row, fields) : nil
      }
      try beginLookups()
      let keys = keys(of: range, source)
      let unchanged = try unchangedRows(keys, fields)
      try prepare(
        columns.areAttributes ? [] : range.compactMap(source),
        Set(keys.lazy.filter { !unchanged.contains($0.index) }.map(\.key)))
      for index in range {
        if unchanged.contains(index) {
          attempt.report.rows += 1
          attempt.objects.append(nil)
          continue
        }
        try importRow(index, &attempt) { _ in source(index) }
        try attempt.weighFaults(&memory)
      }
    }
    if ahead {
      // The former chunk was being written while this one was prepared.
      do { try finishSaveOfFormer() } catch let error where ImportFailure.isOfRows(error) { return false }
      former = nil
    }
    return try save(&attempt, range, ahead: ahead)
  }

  /// The keys of the rows with valid keys.
  private func keys(
    of range: Range<Int>, _ source: (Int) -> RowSource?
  ) -> [(index: Int, key: KeyLookup.Key)] {
    guard existing != nil else { return [] }
    return range.compactMap { index in
      source(index).flatMap { try? key(of: $0) }.map { (index, $0) }
    }
  }

  /// The rows whose objects have the rows' values already. Empty if objects are needed to compare.
  private func unchangedRows(_ keys: [(index: Int, key: KeyLookup.Key)], _ fields: StagedRows.Fields) throws -> Set<Int>
  {
    guard let existing, readsWithoutHooks, script?.changesRows != true, columns.areAttributes, recordColumn == nil
    else {
      return []
    }
    var rows = UnchangedRows(entity, existing, columns, conversion)
    return try rows.find(keys, chunk.rows, fields, in: context) ?? []
  }

  /// The values of a row; nil if it is skipped or rejected.
  ///
  /// Unknown names in the first row of a map's function end the import, because the other rows have them too; in later
  /// rows they are the fault of the row.
  private func source(of index: Int, _ fields: StagedRows.Fields, _ attempt: inout Attempt) throws -> RowSource? {
    let row = chunk.rows[index]
    guard row.fault == nil else { return nil }
    guard let script, script.changesRows else { return .fields(row, fields) }
    let isFirst = report.rows == 0 && columns.names.isEmpty
    do {
      guard let cells = try script.row(input.reader.names, scriptFields(row, fields)) else {
        attempt.report.skipped += 1
        return nil
      }
      let places = try columns.places(of: cells.map(\.name))
      return .cells(Dictionary(zip(places, cells)) { first, _ in first })
    } catch let error as ImportError where isFirst {
      throw ImportError(message: "\(input.path ?? "standard input"): the row that --map gives: \(error.message)")
    } catch let error where ImportFailure.isOfRows(error) || error is ImportError {
      attempt.reject(index, ImportFailure.fault(of: error))
      return nil
    }
  }

  private func importRow(_ index: Int, _ attempt: inout Attempt, _ source: (StagedRows.Row) -> RowSource?) throws {
    let row = chunk.rows[index]
    attempt.report.rows += 1
    do {
      if let fault = row.fault ?? unmended(row) { throw fault }
      guard let source = source(row) else { return attempt.objects.append(nil) }
      attempt.objects.append(try apply(source, &attempt.report))
    } catch let error where ImportFailure.isOfRows(error) {
      attempt.objects.append(nil)
      attempt.reject(index, ImportFailure.fault(of: error))
    }
  }

  /// The fault of a row from a reject file that still has only an unreadable record.
  private func unmended(_ row: StagedRows.Row) -> RowFault? {
    guard let column = recordColumn else { return nil }
    return chunk.withFields { fields in
      func isThere(_ column: Int) -> Bool {
        let kind = fields.field(column, of: row).kind
        return kind != .none && kind != .missing
      }
      let names = input.reader.names
      guard isThere(column), !names.indices.contains(where: { !RejectFile.columns.contains(names[$0]) && isThere($0) })
      else { return nil }
      return RowFault(reason: "its record could not be understood, and still waits in _record to be mended")
    }
  }

  /// The column of unreadable records in a reject file.
  private var recordColumn: Int? { input.reader.names.firstIndex(of: "_record") }

  // MARK: Rows

  /// Inserts or updates the object of a row.
  private func apply(_ row: RowSource, _ report: inout ImportReport) throws -> ManagedObject {
    if isPlain, insertsWithoutHooks {
      let object = try context.insert(entity)
      do {
        try assign(row, to: object)
      } catch {
        try context.delete(object)
        throw error
      }
      report.inserted += 1
      return object
    }
    return try context.undoingOnFailure {
      let found = try existing?.object(key(of: row), in: context)
      guard found != nil || !options.updatesOnly else {
        throw RowFault(reason: "there is no such \(entity.name): its row was rejected")
      }
      if let found {
        try update(row, found)
        if found.hasChanges { report.updated += 1 }
        return found
      }
      let object = try context.insert(entity)
      try assign(row, to: object)
      report.inserted += 1
      for lookup in lookups(of: object) { try lookup.note(object) }
      return object
    }
  }
}
