public import MoonbaseModel
import MoonbasePlatform

/// Fills a page, row by row and value by value, without an allocation for either.
///
/// ```swift
/// let builder = RowPageBuilder(entity: entity, store: identifier, capacity: 1)
/// builder.beginRow(key: 7, version: 1)
/// builder.set("Ann", slot: name)
/// builder.endRow()
/// let page = builder.finish()
/// ```
public final class RowPageBuilder {
  private let page: RowPage
  private let shape: RowShape
  /// The row that is being filled. No access to it lasts while other code runs; each is checked for every value otherwise.
  @exclusivity(unchecked) private var row: UnsafeMutableRawPointer

  /// Makes room for rows of an entity.
  public convenience init(entity: ResolvedEntity, store identifier: String, capacity: Int = RowPage.capacity) {
    self.init(
      StoreNumber(identifier), entity: entity.symbol, slotCount: entity.properties.count, capacity: capacity)
  }

  package init(_ store: StoreNumber, entity: Symbol, slotCount: Int, capacity: Int) {
    page = RowPage(store, entity: entity, slotCount: slotCount, capacity: capacity)
    page.readAt = RowPage.momentOfReading
    shape = page.shape
    row = page.rows
  }

  var store: StoreNumber { page.store }
  var entity: Symbol { page.entity }
  /// How many rows there is room for.
  public var capacity: Int { page.capacity }
  /// How many rows are complete.
  public var count: Int { page.count }
  /// Whether there is room for no more rows.
  public var isFull: Bool { page.isFull }

  /// The bytes that the rows keep so far, by estimate.
  package var weight: Int { page.filledWeight }

  /// Begins a row with all values null. One that was begun and not ended is forgotten.
  public func beginRow(key: Int64, version: Int64) { row = page.beginRow(key: key, version: version) }

  /// Begins a row with the values of another one, but for some slots, which are null.
  func beginRow(key: Int64, version: Int64, like other: Snapshot, but slots: SlotSet) {
    beginRow(key: key, version: version)
    page.copy(other, but: slots, in: row)
  }

  /// The row is complete.
  public func endRow() { page.endRow() }

  /// Sets a value of the row that was begun.
  public func set(_ value: Value, slot: Slot) { page.set(value, slot: slot, in: row) }

  /// Hands the rows over, in no more memory than about twice what they need.
  public func finish() -> RowPage {
    precondition(page.stage == .filling, "the page is finished: make another builder")
    page.seal()
    return page
  }
}

/// Values that need no `Value` to pass through: what a cursor has in its hands.
extension RowPageBuilder {
  @inline(__always)
  package func set(integer: Int64, slot: Slot) { shape.put(integer, CellKind.int, slot: slot, in: row) }

  @inline(__always)
  package func set(bool: Bool, slot: Slot) { shape.put(UInt64(bool ? 1 : 0), CellKind.bool, slot: slot, in: row) }

  @inline(__always)
  package func set(double: Double, slot: Slot) { shape.put(double, CellKind.double, slot: slot, in: row) }

  /// A date in seconds since the beginning of 2001.
  @inline(__always)
  package func set(date seconds: Double, slot: Slot) { shape.put(seconds, CellKind.date, slot: slot, in: row) }

  package func set(text: UnsafeRawBufferPointer, slot: Slot) { page.set(text: text, slot: slot, in: row) }

  package func set(data: UnsafeRawBufferPointer, slot: Slot) { page.set(data: data, slot: slot, in: row) }

  /// What a slot of another row holds.
  package func copy(_ cell: Snapshot.Cell, slot: Slot) { page.copy(cell, slot: slot, in: row) }

  /// The key of an object of the page's store.
  package func set(key: Int64, of entity: Symbol, slot: Slot) {
    page.putReference(ManagedObjectID(store: store, entity: entity, key: key), slot: slot, in: row)
  }
}
