public import MoonbaseModel
package import MoonbasePlatform

/// The values of one object as its store holds them: immutable, shared by all contexts. A place in a `RowPage`.
///
/// Values lie by slot of the object's own entity. To-one relationships are `.objectID`; slots of to-many relationships and
/// transient attributes are `.null`; transformable attributes hold their stored bytes. Bytes that the store keeps in a file of
/// their own may be a token, which objects resolve; a store gets it back only in slots that did not change.
///
/// ```swift
/// let row = try store.snapshot(of: id)
/// print(row?.version ?? 0, row?.values[slot] ?? .null)
/// ```
public struct Snapshot: Sendable {
  let page: RowPage
  let place: Int

  /// A row of a page.
  public init(_ page: RowPage, at place: Int) {
    precondition(place >= 0 && place < page.count, "the page has no row \(place)")
    self.page = page
    self.place = place
  }

  init(unchecked page: RowPage, at place: Int) { (self.page, self.place) = (page, place) }

  /// Makes a page of one row; `values` must have one element for every property of the object's entity.
  public init(id: ManagedObjectID, version: Int64, values: some Collection<Value>) {
    self.init(id: id, version: version, slotCount: values.count) { page in
      for (slot, value) in values.enumerated() { page.set(value, slot: slot) }
    }
  }

  /// Makes a page of one row, which `fill` sets the values of.
  init(
    id: ManagedObjectID, version: Int64, slotCount: Int, fill: (RowPageBuilder) throws -> Void
  ) rethrows {
    let builder = RowPageBuilder(
      StoreNumber(rawValue: id.storeNumber), entity: id.entitySymbol, slotCount: slotCount, capacity: 1)
    builder.beginRow(key: id.key, version: version)
    try fill(builder)
    builder.endRow()
    self.init(builder.finish(), at: 0)
  }

  /// The object.
  public var id: ManagedObjectID { page.id(place) }
  /// How often the row was saved: 1 after its insertion (`Z_OPT` in the SQLite store).
  public var version: Int64 { page.version(place) }
  /// The values by slot, each decoded when it is asked for.
  public var values: Values { Values(row: self) }
  /// What a slot holds, before a value is made of it. Text and bytes are the page's own: valid as long as it is kept.
  package enum Cell {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    /// Seconds since the beginning of 2001.
    case date(Double)
    /// UTF-8, which may be invalid.
    case text(UnsafeRawBufferPointer)
    case data(UnsafeRawBufferPointer)
    case uuid(UUID)
    /// A destination.
    case reference(ManagedObjectID)
    /// A value that is large or rare.
    case value(Value)
  }

  /// What a slot holds.
  @inline(__always)
  package func cell(_ slot: Slot) -> Cell {
    precondition(slot >= 0 && slot < page.shape.slotCount, "the entity has no slot \(slot)")
    return page.cell(slot, of: place)
  }

  /// The content of a slot, in registers. Text and bytes are the page's own.
  @inline(__always)
  package func rawCell(_ slot: Slot) -> RawCell {
    precondition(slot >= 0 && slot < page.shape.slotCount, "the entity has no slot \(slot)")
    return page.rawCell(slot, of: place)
  }

  /// The object that a slot leads to, with no value made of what else it holds.
  package func destination(_ slot: Slot) -> ManagedObjectID? {
    switch cell(slot) {
    case .reference(let id), .value(.objectID(let id)): id
    default: nil
    }
  }

  /// What the store holds in the place of values: what reading each of them throws, and once what concerns the whole row.
  package var damagedValues: [GraphError] {
    var errors: [GraphError] = []
    for slot in 0..<page.shape.slotCount {
      guard case .value(.object(let token)) = cell(slot), let error = token.damage as? GraphError else { continue }
      errors.append(error)
      if error.property == nil { break }
    }
    return errors
  }

  /// The bytes that it keeps, by estimate.
  package var weight: Int { page.rowWeight }

  /// The same rows in pages of their own, so that they keep no others. All are of one store.
  static func copies(of rows: some Collection<Snapshot>) -> [Snapshot] {
    guard let first = rows.first else { return [] }
    let collector = RowCollector(store: first.page.store)
    for row in rows { collector.append(row) }
    // The pages they came from keep the text and the bytes until these are copied.
    let copies = withExtendedLifetime(rows) { Array(collector.finish()) }
    // They were read when the others were.
    for copy in copies { copy.page.readAt = 0 }
    return copies
  }

  /// Whether both are the same place of the same page.
  func isIdentical(to other: Snapshot?) -> Bool { page === other?.page && place == other?.place }
}

extension Snapshot {
  /// The values of a row by slot.
  public struct Values: RandomAccessCollection, Sendable, Equatable {
    fileprivate let row: Snapshot

    /// The first slot.
    public var startIndex: Int { 0 }
    /// How many slots there are.
    public var endIndex: Int { row.page.shape.slotCount }

    /// The value of a slot.
    public subscript(slot: Int) -> Value {
      precondition(slot >= 0 && slot < endIndex, "the entity has no slot \(slot)")
      return row.page.value(slot, of: row.place)
    }

    /// Whether all values are equal.
    public static func == (left: Values, right: Values) -> Bool { left.elementsEqual(right) }
  }
}

extension Snapshot.Cell {
  /// Whether this is the same value, so that assigning it changes nothing.
  func isSame(as value: Value) -> Bool {
    switch (self, value) {
    case (.null, .null): true
    case (.bool(let one), .bool(let other)): one == other
    case (.int(let one), .int(let other)): one == other
    case (.text(let bytes), .string(var text)): text.withUTF8 { Self.areEqual(bytes, UnsafeRawBufferPointer($0)) }
    case (.data(let bytes), .data(let data)): data.withUnsafeBytes { Self.areEqual(bytes, $0) }
    case (.reference(let one), .objectID(let other)): one == other
    case (.null, _), (_, .null), (.bool, _), (.int, _), (.text, _), (.data, _), (.reference, _): false
    case (.double(let one), _): Value.double(one).isSame(as: value)
    case (.date(let seconds), _): Value.date(Date(timeIntervalSinceReferenceDate: seconds)).isSame(as: value)
    case (.uuid(let uuid), _): Value.uuid(uuid).isSame(as: value)
    case (.value(let one), _): one.isSame(as: value)
    }
  }

  private static func areEqual(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Bool {
    guard let start = one.baseAddress, let otherStart = other.baseAddress else { return one.count == other.count }
    return one.count == other.count && memcmp(start, otherStart, one.count) == 0
  }
}

extension RowPageBuilder {
  /// Adds a row of values in the order of the slots.
  public func addRow(key: Int64, version: Int64, values: some Collection<Value>) {
    beginRow(key: key, version: version)
    for (slot, value) in values.enumerated() { set(value, slot: slot) }
    endRow()
  }
}
