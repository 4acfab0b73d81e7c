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
