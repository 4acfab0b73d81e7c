import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// Finds the rows of a chunk whose objects have the rows' values already. Compares with rows of the store, without
/// making objects. The objects of the other rows are added to the lookup.
///
/// An import with `--upsert` of the same file then costs one reading of the store. The comparison
/// is only made if no hooks change what is read.
struct UnchangedRows {
  /// A row of the chunk whose object is being looked up.
  private struct Candidate {
    /// The index of the row in the chunk.
    let index: Int
    /// Whether several rows have its key.
    var isRepeated = false
    /// The number of stored rows with its key.
    var matches = 0
    /// Whether the stored row has all values of the row.
    var isUnchanged = false
  }

  /// The entity of the rows.
  private let entity: ResolvedEntity
  /// The lookup of `--upsert`, which gets the other objects.
  private let lookup: KeyLookup
  /// The columns, all of which are attributes.
  private let columns: ImportColumns
  /// The conversion of fields.
  private let conversion: FieldConversion
  /// The rows whose keys are not known to the lookup.
  private var candidates: [Candidate] = []
  /// The index in `candidates` of each key.
  private var places: [KeyLookup.Key: Int] = [:]

  /// A search without candidates.
  init(_ entity: ResolvedEntity, _ lookup: KeyLookup, _ columns: ImportColumns, _ conversion: FieldConversion) {
    (self.entity, self.lookup, self.columns, self.conversion) = (entity, lookup, columns, conversion)
  }

  /// The unchanged rows. Two rows with the same key have the same object, and neither is included. Nil if rows of the
  /// store are not decisive.
  ///
  /// The stored rows are read in batches, without faults or objects for the unchanged ones.
  mutating func find(
    _ keys: [(index: Int, key: KeyLookup.Key)], _ rows: [StagedRows.Row], _ fields: StagedRows.Fields,
    in context: ManagedObjectContext
  ) throws -> Set<Int>? {
    let wanted = lookup.unknown(Set(keys.lazy.map(\.key)))
    guard !wanted.isEmpty else { return [] }
    gather(keys, wanted)
    var others: [ManagedObject] = []
    let isFound = try context.forEachRowBatch(matching: lookup.request(for: wanted)) { batch in
      let changed = try compare(batch, rows, fields)
      if !changed.isEmpty { others += try context.objects(for: changed) }
    }
    guard isFound else { return nil }
    try lookup.add(others)
    lookup.note(
      missing: places.filter { candidates[$0.value].matches == 0 }.keys,
      doubled: places.filter { candidates[$0.value].matches > 1 }.keys)
    return Set(candidates.lazy.filter(\.isUnchanged).map(\.index))
  }

  /// Collects the candidates: the rows whose keys are wanted.
  private mutating func gather(_ keys: [(index: Int, key: KeyLookup.Key)], _ wanted: Set<KeyLookup.Key>) {
    let areAllWanted = wanted.count == keys.count
    places.reserveCapacity(wanted.count)
    for (index, key) in keys where areAllWanted || wanted.contains(key) {
      if let place = places[key] {
        candidates[place].isRepeated = true
      } else {
        places[key] = candidates.count
        candidates.append(Candidate(index: index))
      }
    }
  }

  /// The rows of the store that differ from the input.
  ///
  /// Compares a batch of stored rows with their candidates.
  private mutating func compare(
    _ batch: RowBatch, _ rows: [StagedRows.Row], _ fields: StagedRows.Fields
  ) throws -> RowBatch {
    var changed = RowBatch()
    for row in batch {
      try HostWork.charge()
      guard let place = places[lookup.properties.map({ row.values[$0.slot] })] else { continue }
      candidates[place].matches += 1
      let candidate = candidates[place]
      let isUnchanged =
        candidate.matches == 1 && !candidate.isRepeated && isSame(rows[candidate.index], fields, as: row)
      candidates[place].isUnchanged = isUnchanged
      if !isUnchanged { changed.append(row) }
    }
    return changed
  }

  /// Whether a row of the store has all values of a row of the input.
  private func isSame(_ row: StagedRows.Row, _ fields: StagedRows.Fields, as stored: Snapshot) -> Bool {
    // Slots apply to the entity itself only.
    guard stored.id.entitySymbol == entity.symbol else { return false }
    for (column, target) in columns.targets.enumerated() {
      switch target {
      case .ignored: continue
      case .unknown: if fields.field(column, of: row).kind != .missing { return false }
      case .attribute(let property, let attribute):
        let field = fields.field(column, of: row)
        if field.kind == .missing { continue }
        guard isSame(field, attribute, column, as: stored, property.slot) else { return false }
      case .relationship, .key: return false
      }
    }
    return true
  }

  /// Whether a field has the value of a slot. Cells are compared where possible, without making
  /// values.
  private func isSame(
    _ field: InputField, _ attribute: AttributeDescription, _ column: Int, as stored: Snapshot, _ slot: Slot
  ) -> Bool {
    if let cell = conversion.cell(field, attribute.type) { return stored.rawCell(slot).isSame(as: cell) }
    // The store holds the transformed value.
    guard attribute.type != .transformable, attribute.type != .undefined else { return false }
    guard let value = try? conversion.value(field, for: attribute, column: columns.names[column]) else { return false }
    return stored.values[slot] == value
  }
}
