public import MoonbaseModel
import MoonbasePlatform

/// Fills a page row by row and value by value, without an allocation for either.
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
  /// The row being filled. No access lasts while other code runs, so the check for each value is turned off.
  @exclusivity(unchecked) private var row: UnsafeMutableRawPointer

  /// Makes a builder for rows of an entity.
  public convenience init(entity: ResolvedEntity, store identifier: String, capacity: Int = RowPage.capacity) {
    self.init(
      StoreNumber(identifier), entity: entity.symbol, slotCount: entity.properties.count, capacity: capacity)
  }

  /// Makes a builder for rows with `slotCount` slots.
  package init(_ store: StoreNumber, entity: Symbol, slotCount: Int, capacity: Int) {
    page = RowPage(store, entity: entity, slotCount: slotCount, capacity: capacity)
    page.readAt = RowPage.momentOfReading
    shape = page.shape
    row = page.rows
  }

  var store: StoreNumber { page.store }
  var entity: Symbol { page.entity }
  /// The number of rows that fit.
  public var capacity: Int { page.capacity }
  /// The number of complete rows.
  public var count: Int { page.count }
  /// Whether no further row fits.
  public var isFull: Bool { page.isFull }

  /// The estimated bytes of the rows so far.
  package var weight: Int { page.filledWeight }

  /// Begins a row of nulls. A row that was begun and not ended is discarded.
  public func beginRow(key: Int64, version: Int64) { row = page.beginRow(key: key, version: version) }

  /// Begins a row with the values of another row; the given slots are null.
  package func beginRow(key: Int64, version: Int64, like other: Snapshot, but slots: SlotSet) {
    beginRow(key: key, version: version)
    page.copy(other, but: slots, in: row)
  }

  /// Completes the row.
  public func endRow() { page.endRow() }

  /// Sets a value of the current row.
  public func set(_ value: Value, slot: Slot) { page.set(value, slot: slot, in: row) }

  /// Returns the sealed page, whose memory is at most about twice what the rows need.
  public func finish() -> RowPage {
    precondition(page.stage == .filling, "the page is finished: make another builder")
    page.seal()
    return page
  }
}

/// Setting values directly, without making a `Value`.
extension RowPageBuilder {
  /// Sets an integer.
  @inline(__always)
  package func set(integer: Int64, slot: Slot) { shape.put(integer, CellKind.int, slot: slot, in: row) }

  /// Sets a truth value.
  @inline(__always)
  package func set(bool: Bool, slot: Slot) { shape.put(UInt64(bool ? 1 : 0), CellKind.bool, slot: slot, in: row) }

  /// Sets a number.
  @inline(__always)
  package func set(double: Double, slot: Slot) { shape.put(double, CellKind.double, slot: slot, in: row) }

  /// Sets a date, in seconds since the beginning of 2001.
  @inline(__always)
  package func set(date seconds: Double, slot: Slot) { shape.put(seconds, CellKind.date, slot: slot, in: row) }

  /// Sets text, as UTF-8.
  package func set(text: UnsafeRawBufferPointer, slot: Slot) { page.set(text: text, slot: slot, in: row) }

  /// Sets data.
  package func set(data: UnsafeRawBufferPointer, slot: Slot) { page.set(data: data, slot: slot, in: row) }

  /// Copies the content of another row's slot.
  package func copy(_ cell: Snapshot.Cell, slot: Slot) { page.copy(cell, slot: slot, in: row) }

  /// Sets a reference to an object of the page's store.
  package func set(key: Int64, of entity: Symbol, slot: Slot) {
    page.putReference(ManagedObjectID(store: store, entity: entity, key: key), slot: slot, in: row)
  }
}
