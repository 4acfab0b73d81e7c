import MoonbaseModel
import Testing

/// All mistakes of a model are collected and reported together.
@Suite struct MistakesTests {
  @Test func nothingIsLookedAtOnceTheRunMustEnd() throws {
    let mistakes = Mistakes()
    mistakes.add(ModelError(.invalidModel, message: "a mistake"))
    var looks = 0
    for _ in 0..<20 {
      mistakes.attempt { () throws(ModelError) in
        looks += 1
        throw ModelError(.interrupted, message: "interrupted")
      }
    }
    #expect(looks == 1)
    let error = try #require(throws: ModelError.self) { try mistakes.finish() }
    #expect(error.code == .interrupted && error.others.map(\.message) == ["a mistake"])
  }
}
