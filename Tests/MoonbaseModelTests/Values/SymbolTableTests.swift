import MoonbaseTestSupport
import Testing

@testable import MoonbaseModel

/// The index of a symbol among those of an entity.
@Suite struct SymbolTableTests {
  @Test func eachSymbolIsFoundAndNoOther() {
    var random = SplitMix(7)
    for count in [0, 1, 2, 3, 4, 7, 8, 9, 100, 1000] {
      var numbers: Set<UInt32> = []
      while numbers.count < count { numbers.insert(UInt32(random.next(count < 10 ? 12 : 1_000_000))) }
      let symbols = numbers.map(Symbol.init(number:))
      let table = SymbolTable(symbols)
      for (index, symbol) in symbols.enumerated() { #expect(table[symbol] == index) }
      for _ in 0..<100 {
        let symbol = Symbol(number: UInt32(random.next(1_000_000)))
        if !numbers.contains(symbol.number) { #expect(table[symbol] == nil) }
      }
    }
  }

  @Test func aTableIsAsLargeAsWhatItHolds() {
    #expect(SymbolTable([Symbol(number: 0), Symbol(number: 50_000_000)]).capacity <= 8)
    #expect(SymbolTable((0..<1000).map { Symbol(number: $0 * 1024) }).capacity <= 4000)
  }
}
