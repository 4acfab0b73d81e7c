import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting

/// The source of a row's values.
///
/// Without a script the fields are the source. A script of `--map` returns cells by column instead.
enum RowSource {
  /// A row of the input, with access to the fields of its chunk.
  case fields(StagedRows.Row, StagedRows.Fields)
  /// The result of a script, by column.
  case cells([Int: ImportScript.Cell])

  /// The bytes of a script's result.
  var weight: Int { if case .cells(let cells) = self { cells.values.reduce(0) { $0 + $1.weight } } else { 0 } }
}

extension Importer {
  // MARK: Values

  /// The value of a column for an attribute; nil if the row lacks the column.
  ///
  /// Throws `RowFault` for a value that does not fit.
  func value(_ column: Int, for attribute: AttributeDescription, _ property: ResolvedProperty, of row: RowSource) throws
    -> Value?
  {
    switch row {
    case .fields(let row, let fields):
      let field = fields.field(column, of: row)
      if field.kind == .missing { return nil }
      return try conversion.value(field, for: attribute, column: columns.names[column])
    case .cells(let cells):
      guard let cell = cells[column] else { return nil }
      if let text = cell.text { return try value(text, for: attribute, column: column) }
      return try blaming(column, nil) { try script?.value(cell, for: property, in: context) ?? .null }
    }
  }

  /// The value of a text that a script returned.
  private func value(_ text: String, for attribute: AttributeDescription, column: Int) throws -> Value {
    var text = text
    return try text.withUTF8 { bytes in
      let field = InputField(kind: .text, bytes: UnsafeRawBufferPointer(bytes))
      return try conversion.value(field, for: attribute, column: columns.names[column])
    }
  }

  /// The keys of objects in a column, with `parts` attributes each; empty for no value, nil if the row lacks the
  /// column.
  ///
  /// For example, a column `department.code` has keys of one part. A to-many relationship has a
  /// JSON list of keys.
  private func keys(_ column: Int, isList: Bool, parts: Int = 1, of row: RowSource) throws -> [InputKey]? {
    switch row {
    case .fields(let row, let fields):
      let field = fields.field(column, of: row)
      switch field.kind {
      case .missing: return nil
      case .none: return []
      default: return try keys(field, isList: isList, parts: parts, column)
      }
    case .cells(let cells):
      guard let cell = cells[column] else { return nil }
      if let text = cell.text {
        var text = text
        return try text.withUTF8 {
          try keys(InputField(kind: .text, bytes: UnsafeRawBufferPointer($0)), isList: isList, parts: parts, column)
        }
      }
      return nil
    }
  }

  /// The keys in a field: a text, or JSON lists for several parts or several objects.
  private func keys(_ field: InputField, isList: Bool, parts: Int, _ column: Int) throws -> [InputKey] {
    guard let text = field.text else {
      throw RowFault(column: columns.names[column], value: field.shownText, reason: "it is not UTF-8")
    }
    guard isList || parts > 1 else {
      if field.kind == .nested { throw notOne(text, column) }
      return [InputKey(texts: [text])]
    }
    guard field.bytes.first(where: { $0 > 32 }) == UInt8(ascii: "["),
      case .list(let list)? = try? Value(json: field.bytes)
    else {
      throw RowFault(
        column: columns.names[column], value: text, reason: "a list is expected, as in [\"one\", \"two\"]")
    }
    guard parts > 1 else {
      return try list.map { value in
        guard let key = value.text else { throw notOne(text, column) }
        return InputKey(texts: [key])
      }
    }
    return try (isList ? list : [.list(list)]).map { key in
      guard case .list(let values) = key, values.count == parts else {
        throw RowFault(column: columns.names[column], value: text, reason: "a key is a list of \(parts) values")
      }
      return InputKey(
        texts: try values.map { value in
          guard value.text != nil || value.isNull else { throw notOne(text, column) }
          return value.text
        })
    }
  }

  /// The fault that a key is no single text, number or boolean.
  private func notOne(_ text: String, _ column: Int) -> RowFault {
    RowFault(
      column: columns.names[column], value: text,
      reason: "an object is found by a text, a number or a truth value, not by null, a list or an object")
  }

  /// The key of an object, with a text for each attribute; nil for no value.
  struct InputKey {
    /// The texts of the key's attributes.
    let texts: [String?]
    /// The key in words, for messages.
    var shown: String { texts.map { $0 ?? "null" }.joined(separator: ", ") }
  }

  // MARK: Keys

  /// The key by which a row's object is found.
  ///
  /// Throws `RowFault` if the row lacks a column of the key or has no value there.
  func key(of row: RowSource) throws -> KeyLookup.Key {
    try (existing?.properties ?? []).map { property in
      guard let column = columns.column(of: property), let attribute = property.attribute,
        let value = try value(column, for: attribute, property, of: row)
      else { throw RowFault(reason: "the row says nothing of \(property.name), by which its object is found") }
      // Otherwise the store would be searched for a value that no object can have.
      do { _ = try attribute.checked(value) } catch let error as ModelError {
        throw RowFault(column: columns.names[column], value: value.beginning, reason: error.message)
      }
      guard !value.isNull else {
        // A row without a key would match any object without a value.
        throw RowFault(
          column: columns.names[column], reason: "it has no value, and the object is found by it (--upsert)")
      }
      return value
    }
  }

  /// Fetches all objects that rows refer to by keys, with a single fetch per kind of key. `own` are the keys of the
  /// rows' own objects.
  ///
  /// Keys that cannot be read are skipped here. The row that has one is rejected when it is
  /// imported.
  func prepare(_ rows: [RowSource], _ own: Set<KeyLookup.Key>) throws {
    if let existing { try existing.prepare(own, in: context) }
    for (column, target) in columns.targets.enumerated() {
      guard case .key(let property, let place) = target else { continue }
      let lookup = columns.lookups[place]
      var wanted: Set<KeyLookup.Key> = []
      for row in rows {
        let texts = try? keys(
          column, isList: property.relationship?.isToMany == true, parts: lookup.properties.count, of: row)
        for text in texts ?? [] { if let key = try? key(text, of: lookup, column) { wanted.insert(key) } }
      }
      try lookup.prepare(wanted, in: context)
    }
  }

  /// The values of a key's texts, in the types of the lookup's attributes.
  private func key(_ key: InputKey, of lookup: KeyLookup, _ column: Int) throws -> KeyLookup.Key {
    try zip(lookup.properties, key.texts).map { property, text in
      guard let attribute = property.attribute, let text else { return .null }
      return try value(text, for: attribute, column: column)
    }
  }

  /// The lookups of this import, beginning with that for the rows' own objects.
  private var allLookups: [KeyLookup] { existing.map { [$0] + columns.lookups } ?? columns.lookups }

  /// The lookups that may find an object.
  func lookups(of object: ManagedObject) -> [KeyLookup] {
    allLookups.filter { object.entity.isKind(of: $0.entity) }
  }

  /// Prepares the lookups for a chunk. Hooks of the previous save may have changed keys.
  func beginLookups() throws {
    let lookups = allLookups
    guard !lookups.isEmpty else { return }
    let mayMove = try ([entity] + lookups.map(\.entity)).contains { try context.changesWhenSaving($0) }
    for lookup in lookups { lookup.beginChunk(mayMove: mayMove) }
    changing = lookups.filter(isChanging)
  }

  /// Whether rows may change the attributes of a lookup. A row does not change the key of its own object.
  private func isChanging(_ lookup: KeyLookup) -> Bool {
    guard readsWithoutHooks, !lookup.isDerived else { return true }
    let own = Set((existing?.properties ?? []).map(\.slot))
    return lookup.properties.contains { !own.contains($0.slot) && columns.column(of: $0) != nil }
  }

  /// Empties the lookups that know objects of rows omitted from a save.
  func forgetCorrectedKeys() { for lookup in allLookups { lookup.forgetCorrected() } }

  // MARK: Objects

  /// Sets a row's values and updates the lookups by which the object was found.
  ///
  /// Only lookups in `changing` are updated, because the others cannot be affected by a row.
  func update(_ row: RowSource, _ object: ManagedObject) throws {
    let lookups = changing.filter { object.entity.isKind(of: $0.entity) }
    let former = try lookups.map { try $0.key(of: object) }
    try assign(row, to: object)
    for (lookup, key) in zip(lookups, former) { try lookup.note(object, movedFrom: key) }
  }

  /// Sets a row's values.
  ///
  /// The columns are assigned from left to right. A fast path writes cells to the object's row
  /// without making values. Throws `RowFault` with the column.
  func assign(_ row: RowSource, to object: ManagedObject) throws {
    for (column, target) in columns.targets.enumerated() {
      switch target {
      case .ignored: break
      case .unknown(let reason):
        guard case .fields(let row, let fields) = row, fields.field(column, of: row).kind == .missing else {
          throw RowFault(reason: reason)
        }
      case .attribute(let property, let attribute):
        if case .fields(let row, let fields) = row {
          let field = fields.field(column, of: row)
          if field.kind == .missing { continue }
          if object.writesItsRow, let cell = conversion.cell(field, attribute.type),
            object.setFast(cell, slot: property.slot)
          {
            continue
          }
        }
        guard let value = try value(column, for: attribute, property, of: row) else { continue }
        try blaming(column, value) { try object.setValue(value, slot: property.slot) }
      case .relationship(let property):
        if case .cells(let cells) = row, let cell = cells[column], cell.text == nil {
          try blaming(column, nil) {
            try object.setValue(script?.value(cell, for: property, in: context) ?? .null, slot: property.slot)
          }
          continue
        }
        try assign(column, property, of: row, to: object) { try destination($0, column) }
      case .key(let property, let place):
        let lookup = columns.lookups[place]
        try assign(column, property, parts: lookup.properties.count, of: row, to: object) {
          try destination($0, lookup, column)
        }
      }
    }
  }

  /// Assigns a relationship, whose destinations are found by `destination`.
  private func assign(
    _ column: Int, _ property: ResolvedProperty, parts: Int = 1, of row: RowSource, to object: ManagedObject,
    _ destination: (InputKey) throws -> ManagedObjectID
  ) throws {
    let isList = property.relationship?.isToMany == true
    guard let keys = try keys(column, isList: isList, parts: parts, of: row) else { return }
    let ids = try keys.map(destination)
    let value: Value = isList ? .list(ids.map(Value.objectID)) : ids.first.map(Value.objectID) ?? .null
    try blaming(column, value) { try object.setValue(value, slot: property.slot) }
  }

  /// The object of a URI or a name such as `Person/12`. Throws `RowFault` for other texts.
  private func destination(_ key: InputKey, _ column: Int) throws -> ManagedObjectID {
    if let id = context.coordinator.managedObjectID(named: key.shown) { return id }
    throw RowFault(
      column: columns.names[column], value: key.shown,
      reason:
        "it is no ID of an object of this store, as Person/12 or a URI; an object is found by an attribute of it in a column like "
        + "\(columns.names[column]).name")
  }

  /// The object with a key. With `--create-missing` a missing one is inserted; otherwise `RowFault`
  /// is thrown.
  private func destination(_ text: InputKey, _ lookup: KeyLookup, _ column: Int) throws -> ManagedObjectID {
    let key = try key(text, of: lookup, column)
    do {
      if let found = try lookup.object(key, in: context) { return found.objectID }
    } catch var fault as RowFault {
      (fault.column, fault.value) = (columns.names[column], text.shown)
      throw fault
    }
    guard options.createsMissing else {
      throw RowFault(
        column: columns.names[column], value: text.shown,
        reason: "there is no \(lookup.entity.name) with \(lookup.words(key)); --create-missing makes it")
    }
    let made = try context.insert(lookup.entity)
    for (property, value) in zip(lookup.properties, key) {
      try blaming(column, value) { try made.setValue(value, slot: property.slot) }
    }
    for other in lookups(of: made) { try other.note(made) }
    return made.objectID
  }

  /// Runs a body, attributing its failure to a column and value.
  ///
  /// The column and the value of a `RowFault` are kept if they are known.
  func blaming<Result>(_ column: Int, _ value: Value?, _ body: () throws -> Result) throws -> Result {
    do { return try body() } catch let error where ImportFailure.isOfRows(error) {
      var fault = ImportFailure.fault(of: error)
      if fault.column == nil { fault.column = columns.names[column] }
      if fault.value == nil { fault.value = value?.beginning }
      throw fault
    }
  }

  /// The fields of a row for a `--map`.
  func scriptFields(_ row: StagedRows.Row, _ fields: StagedRows.Fields) throws -> [ImportScript.Field] {
    try input.reader.names.indices.map { column in
      let field = fields.field(column, of: row)
      switch field.kind {
      case .missing, .none: return .none
      case .text:
        guard let text = field.text else {
          throw RowFault(column: input.reader.names[column], value: field.shownText, reason: "it is not UTF-8")
        }
        return .text(text)
      case .number, .bool, .nested: return .value(try Value(json: field.bytes))
      case .binary: return .value(.data(Data(field.bytes)))
      }
    }
  }
}
