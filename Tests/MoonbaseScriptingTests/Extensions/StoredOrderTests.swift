import MoonbaseTestSupport
import Testing

/// Stored attributes computed from each other.
@Suite struct StoredOrderTests {
  /// The names sort in both orders.
  @Test(arguments: StoreKind.allCases, [("full", "s"), ("s", "full")])
  func whatAStoredAttributeIsComputedFromIsComputedFirst(_ kind: StoreKind, _ names: (first: String, second: String))
    throws
  {
    let bench = try ThingBench.bench(
      kind,
      """
      derived = {
        \(names.first) = { stored = true, inputs = { "i" }, get = function(i) return "n" .. i end },
        \(names.second) = { stored = true, inputs = { "\(names.first)" }, get = function(n) return "of " .. n end },
      }
      """)
    let lines = try bench.lines(
      """
      local p = context:insert("P", { i = 1 })
      assert(context:save())
      print(p.\(names.second))
      p.i = 2
      assert(context:save())
      print(p.\(names.second))
      """)
    #expect(lines == ["of n1", "of n2"])
  }
}
