import MoonbasePlatform

/// A name interned in the process, so that looking up a property costs an index instead of a string hash.
///
/// The table grows with distinct entity and property names and never shrinks. Names come from models, not from data.
@usableFromInline
package struct Symbol: Hashable, Sendable {
  /// The index of the name in the table.
  @usableFromInline package let number: UInt32

  /// The names of the process.
  private struct Table {
    /// The numbers by name.
    var numbers: [ExactText: UInt32] = [:]
    /// The names by number.
    var names: [String] = []
    /// The estimated bytes of the names.
    var weight = 0
  }

  /// The table of the process, behind a lock.
  private static let table = Lock(Table())

  /// Interns a name.
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

  /// A symbol of a known number.
  @inlinable
  package init(number: UInt32) { self.number = number }

  /// The estimated bytes of all names.
  package static var weight: Int { table.withLock { $0.weight } }

  /// The name.
  package var name: String {
    let number = Int(number)
    return Self.table.withLock { $0.names[number] }
  }

  /// The symbol of a name that is already interned. Looking up hostile names does not grow the table.
  package static func known(_ name: String) -> Symbol? {
    table.withLock { $0.numbers[ExactText(name)] }.map(Symbol.init(number:))
  }
}

/// A hash table from symbols to indexes, which is faster than a dictionary for the lookups of every object and value
/// access. Its size depends on its own symbols, not on all interned names.
@usableFromInline
package struct SymbolTable: Sendable {
  /// A slot of the hash table.
  @usableFromInline
  package struct Entry: Sendable {
    /// A number that no symbol has, for free entries.
    @inlinable package static var noNumber: UInt32 { .max }

    /// The symbol's number.
    @usableFromInline package var number: UInt32
    /// The index that the symbol is assigned to.
    @usableFromInline package var index: Int32

    /// An entry; free by default.
    @usableFromInline
    package init(number: UInt32 = noNumber, index: Int32 = -1) { (self.number, self.index) = (number, index) }
  }

  /// The entries. Their count is a power of two, and more than half of them are free. A symbol lies at its hash
  /// position, or at the next free entry.
  @usableFromInline package let entries: ContiguousArray<Entry>
  /// The shift that reduces the hash to an index.
  @usableFromInline package let shift: UInt32

  /// Assigns indexes to the symbols in order.
  init(_ symbols: [Symbol]) {
    self.init(symbols.enumerated().map { (symbol: $1, index: $0) })
  }

  /// Assigns these indexes to the symbols.
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

  /// The number of entries.
  var capacity: Int { entries.count }

  /// The index of a symbol; nil if the table lacks it.
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

  /// The hash position of a symbol. Multiplication spreads consecutive numbers, which names of an entity usually have.
  @inlinable @inline(__always)
  package static func place(of symbol: Symbol, shift: UInt32) -> Int {
    Int((symbol.number &* 0x9E37_79B1) &>> shift)
  }
}
