public import MoonbaseModel
public import MoonbasePlatform

/// The stored values of one object: immutable, and shared by all contexts. A snapshot is a place in a `RowPage`.
///
/// Values are ordered by the slots of the object's own entity. To-one relationships are `.objectID`; slots of to-many
/// relationships and transient attributes are `.null`; transformable attributes have their stored bytes. External data
/// may be a token, which objects resolve; a store receives the token back only in slots that did not change.
///
/// ```swift
/// let row = try store.snapshot(of: id)
/// print(row?.version ?? 0, row?.values[slot] ?? .null)
/// ```
public struct Snapshot: Sendable {
  @usableFromInline package let page: RowPage
  @usableFromInline package let place: Int

  /// The row at a place of a page.
  public init(_ page: RowPage, at place: Int) {
    precondition(place >= 0 && place < page.count, "the page has no row \(place)")
    self.page = page
    self.place = place
  }

  @inlinable
  package init(unchecked page: RowPage, at place: Int) { (self.page, self.place) = (page, place) }

  /// Makes a page of one row; `values` must have one element for each property of the object's entity.
  public init(id: ManagedObjectID, version: Int64, values: some Collection<Value>) {
    self.init(id: id, version: version, slotCount: values.count) { page in
      for (slot, value) in values.enumerated() { page.set(value, slot: slot) }
    }
  }

  /// Makes a page of one row whose values `fill` sets.
  package init(
    id: ManagedObjectID, version: Int64, slotCount: Int, fill: (RowPageBuilder) throws -> Void
  ) rethrows {
    let builder = RowPageBuilder(
      StoreNumber(rawValue: id.storeNumber), entity: id.entitySymbol, slotCount: slotCount, capacity: 1)
    builder.beginRow(key: id.key, version: version)
    try fill(builder)
    builder.endRow()
    self.init(builder.finish(), at: 0)
  }

  /// The object ID.
  @inlinable public var id: ManagedObjectID { page.id(place) }
  /// The number of times that the row was saved: 1 after its insertion (`Z_OPT` in the SQLite store).
  @inlinable public var version: Int64 { page.version(place) }
  /// The values by slot, each decoded on access.
  @inlinable public var values: Values { Values(row: self) }
  /// The content of a slot before a `Value` is made. Text and data belong to the page and are valid as long as it is
  /// retained.
  @usableFromInline
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
    /// A large or rare value.
    case value(Value)
  }

  /// The content of a slot.
  @inlinable
  @inline(__always)
  package func cell(_ slot: Slot) -> Cell {
    precondition(slot >= 0 && slot < page.shape.slotCount, "the entity has no slot \(slot)")
    return page.cell(slot, of: place)
  }

  /// The content of a slot, in registers. Text and bytes are the page's own.
  @inlinable
  @inline(__always)
  package func rawCell(_ slot: Slot) -> RawCell {
    precondition(slot >= 0 && slot < page.shape.slotCount, "the entity has no slot \(slot)")
    return page.rawCell(slot, of: place)
  }

  /// The destination in a slot, without making a value of any other content.
  @inlinable
  package func destination(_ slot: Slot) -> ManagedObjectID? {
    switch cell(slot) {
    case .reference(let id), .value(.objectID(let id)): id
    default: nil
    }
  }

  /// The errors of damaged values: for each, the error that reading it throws; a damaged row as a whole is listed once.
  package var damagedValues: [GraphError] {
    var errors: [GraphError] = []
    for slot in 0..<page.shape.slotCount {
      guard case .value(.object(let token)) = cell(slot), let error = token.damage as? GraphError else { continue }
      errors.append(error)
      if error.property == nil { break }
    }
    return errors
  }

  /// The estimated bytes that the row keeps in memory.
  @inlinable
  package var weight: Int { page.rowWeight }

  /// Copies of rows of one store in new pages, so that they no longer retain other rows.
  package static func copies(of rows: some Collection<Snapshot>) -> [Snapshot] {
    guard let first = rows.first else { return [] }
    let collector = RowCollector(store: first.page.store)
    for row in rows { collector.append(row) }
    // The original pages retain text and data until these are copied.
    let copies = withExtendedLifetime(rows) { Array(collector.finish()) }
    // The age of the copies is unknown.
    for copy in copies { copy.page.readAt = 0 }
    return copies
  }

  /// Whether both are the same place of the same page.
  @inlinable
  package func isIdentical(to other: Snapshot?) -> Bool { page === other?.page && place == other?.place }
}

extension Snapshot {
  /// The values of a row by slot.
  public struct Values: RandomAccessCollection, Sendable, Equatable {
    @usableFromInline let row: Snapshot

    @inlinable init(row: Snapshot) { self.row = row }

    /// The first slot.
    @inlinable public var startIndex: Int { 0 }
    /// The number of slots.
    @inlinable public var endIndex: Int { row.page.shape.slotCount }

    /// The value of a slot.
    @inlinable
    public subscript(slot: Int) -> Value {
      precondition(slot >= 0 && slot < endIndex, "the entity has no slot \(slot)")
      return row.page.value(slot, of: row.place)
    }

    /// Whether all values are equal.
    public static func == (left: Values, right: Values) -> Bool { left.elementsEqual(right) }
  }
}

extension Snapshot.Cell {
  /// Whether the content equals the value, so that assigning it changes nothing.
  package func isSame(as value: Value) -> Bool {
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
  /// Adds a row with values in the order of the slots.
  public func addRow(key: Int64, version: Int64, values: some Collection<Value>) {
    beginRow(key: key, version: version)
    for (slot, value) in values.enumerated() { set(value, slot: slot) }
    endRow()
  }
}

extension Snapshot.Cell {
  /// The cell as a value.
  @inlinable
  package var asValue: Value {
    switch self {
    case .null: .null
    case .bool(let flag): .bool(flag)
    case .int(let number): .int(number)
    case .double(let number): .double(number)
    case .date(let seconds): .date(Date(timeIntervalSinceReferenceDate: seconds))
    case .text(let bytes): .string(String(decoding: bytes, as: UTF8.self))
    case .data(let bytes): .data(Data(bytes))
    case .uuid(let uuid): .uuid(uuid)
    case .reference(let id): .objectID(id)
    case .value(let value): value
    }
  }
}
