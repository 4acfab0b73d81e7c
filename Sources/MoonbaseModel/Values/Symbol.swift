import MoonbasePlatform

/// A name interned once for the whole process, so that looking up a property costs an index instead of a string hash.
///
/// The table grows by distinct entity and property names and never shrinks; names come from models, not from data.
package struct Symbol: Hashable, Sendable {
  package let number: UInt32

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

/// Indexes by symbol: looked up for every object and every value that is touched, which hashing would slow down.
struct SymbolTable: Sendable {
  /// By the symbol's number; -1 where there is none.
  private let indexes: ContiguousArray<Int32>

  /// Numbers the symbols in their order.
  init(_ symbols: [Symbol]) {
    let greatest = symbols.map { Int($0.number) }.max() ?? -1
    var indexes = ContiguousArray<Int32>(repeating: -1, count: greatest + 1)
    for (index, symbol) in symbols.enumerated() { indexes[Int(symbol.number)] = Int32(index) }
    self.indexes = indexes
  }

  @inline(__always)
  subscript(symbol: Symbol) -> Int? {
    let number = Int(symbol.number)
    guard number < indexes.count else { return nil }
    let index = indexes[number]
    return index < 0 ? nil : Int(index)
  }
}
