import MoonbasePlatform

/// A name interned once for the whole process, so that looking up a property costs an index instead of a string hash.
///
/// The table grows by distinct entity and property names and never shrinks; names come from models, not from data.
@usableFromInline
package struct Symbol: Hashable, Sendable {
  @usableFromInline package let number: UInt32

  private struct Table {
    var numbers: [ExactText: UInt32] = [:]
    var names: [String] = []
    var weight = 0
  }

  private static let table = Lock(Table())

  package init(_ name: String) {
    number = Self.table.withLock { table in
      let key = ExactText(name)
      if let known = table.numbers[key] { return known }
      let new = UInt32(table.names.count)
      table.names.append(name)
      table.numbers[key] = new
      table.weight += 96 + 2 * name.utf8.count
      return new
    }
  }

  @inlinable
  package init(number: UInt32) { self.number = number }

  /// The bytes that all names keep, by estimate.
  package static var weight: Int { table.withLock { $0.weight } }

  package var name: String {
    let number = Int(number)
    return Self.table.withLock { $0.names[number] }
  }

  /// The symbol of a name that is interned already; looking up hostile names does not grow the table.
  package static func known(_ name: String) -> Symbol? {
    table.withLock { $0.numbers[ExactText(name)] }.map(Symbol.init(number:))
  }
}

/// Indexes by symbol: looked up for every object and every value that is touched, which a dictionary would slow down. Its size
/// goes by its own symbols, however many names the process knows.
@usableFromInline
package struct SymbolTable: Sendable {
  @usableFromInline
  package struct Entry: Sendable {
    /// No symbol's.
    @inlinable package static var noNumber: UInt32 { .max }

    @usableFromInline package var number: UInt32
    @usableFromInline package var index: Int32

    @usableFromInline
    package init(number: UInt32 = noNumber, index: Int32 = -1) { (self.number, self.index) = (number, index) }
  }

  /// A power of two, of which more than half are free. A symbol is at the place where its number leads, or at the next that was
  /// free.
  @usableFromInline package let entries: ContiguousArray<Entry>
  /// What leaves as many bits of a product as there are to a place.
  @usableFromInline package let shift: UInt32

  /// Numbers the symbols in their order.
  init(_ symbols: [Symbol]) {
    self.init(symbols.enumerated().map { (symbol: $1, index: $0) })
  }

  /// Gives the symbols these numbers.
  init(_ symbols: [(symbol: Symbol, index: Int)]) {
    shift = UInt32(UInt32(symbols.count).leadingZeroBitCount) - 1
    var entries = ContiguousArray(repeating: Entry(), count: 1 << (32 - Int(shift)))
    for (symbol, index) in symbols {
      var place = Self.place(of: symbol, shift: shift)
      while entries[place].number != Entry.noNumber { place = (place + 1) & (entries.count - 1) }
      entries[place] = Entry(number: symbol.number, index: Int32(index))
    }
    self.entries = entries
  }

  /// The places that it keeps.
  var capacity: Int { entries.count }

  @inlinable @inline(__always)
  package subscript(symbol: Symbol) -> Int? {
    entries.withUnsafeBufferPointer { entries in
      var place = Self.place(of: symbol, shift: shift)
      while true {
        let entry = entries[place]
        if entry.number == symbol.number { return Int(entry.index) }
        if entry.number == Entry.noNumber { return nil }
        place = (place + 1) & (entries.count - 1)
      }
    }
  }

  /// Numbers in a row, as those of one entity's names mostly are, lie far apart.
  @inlinable @inline(__always)
  package static func place(of symbol: Symbol, shift: UInt32) -> Int {
    Int((symbol.number &* 0x9E37_79B1) &>> shift)
  }
}
