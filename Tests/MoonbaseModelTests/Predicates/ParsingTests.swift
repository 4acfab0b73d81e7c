import MoonbaseModel
import Testing

import enum MoonbaseModel.Predicate

@Suite struct ParsingTests {
  @Test(arguments: parsingCases.lines)
  func aPredicateIsPrintedInItsOwnForm(_ line: CaseTable.Line) throws {
    let predicate = try Predicate(format: line.input)
    #expect(predicate.description == (line.outcome == "=" ? line.input : line.outcome))
  }

  @Test(arguments: parsingCases.lines)
  func whatWasPrintedParsesToTheSame(_ line: CaseTable.Line) throws {
    let predicate = try Predicate(format: line.input)
    #expect(try Predicate(format: predicate.predicateFormat) == predicate)
  }
}
