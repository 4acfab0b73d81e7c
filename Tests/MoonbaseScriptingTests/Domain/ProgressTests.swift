import MoonbaseScripting
import Testing

@Suite struct ProgressTests {
  @Test func numbersOfAnySizeAreDrawn() {
    #expect(ProgressLine(label: "x", done: 5, total: 10, seconds: 1).text.contains("5 of 10 [###############."))
    for done in [Int64.min, -1, 0, .max] {
      for total in [Int64.min, -5, 0, 5, .max] as [Int64] {
        for seconds in [0, 1e-300, 1, 1e300] {
          let text = ProgressLine(label: "x", done: done, total: total, seconds: seconds).text
          #expect(text.hasPrefix("x: \(done)"))
        }
      }
    }
  }

  @Test func advanceNeverOverflowsAndNeverGoesBack() throws {
    let lines = try ThingBench.bench("").lines(
      """
      local bar = moonbase.progress(5, "x")
      bar:advance(math.maxinteger) bar:advance(math.maxinteger)
      print(pcall(bar.advance, bar, -1))
      bar:finish()
      """, leavingChanges: true)
    #expect(lines == ["false\tbad argument #1 to 'advance' (what is done cannot become less)"])
  }
}
