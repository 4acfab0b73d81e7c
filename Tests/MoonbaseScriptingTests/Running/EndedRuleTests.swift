import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import Testing

import enum MoonbaseModel.Predicate

/// Validation rules that run in a script that must end.
@Suite struct EndedRuleTests {
  @Test(arguments: ["SELF = 'x'", "SELF CONTAINS[cd] 'é'", "SELF MATCHES '(a+)+b'"])
  func aRuleIsNoneThatFailsWhereTheRunMustEnd(_ rule: String) throws {
    var attribute = AttributeDescription("a", type: .string)
    attribute.validation.predicates = [ValidationPredicate(try Predicate(format: rule), message: "is wrong")]
    #expect(try ending(of: attribute) == .limit(.instructions))
    attribute.validation.predicates = []
    attribute.validation.regularExpression = "b*"
    #expect(try ending(of: attribute) == .limit(.instructions))
    attribute.validation.regularExpression = nil
    attribute.validation.allowedValues = ["b"]
    #expect(try ending(of: attribute) == .limit(.instructions))
  }

  private func ending(of attribute: AttributeDescription) throws -> LuaError.Kind? {
    let state = try LuaState(limits: LuaLimits(instructions: 10_000))
    var kind: LuaError.Kind?
    try state.setGlobal(
      "check",
      to: state.function { _ in
        HostWork.note(1_000_000)
        do {
          _ = try attribute.validate("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")
        } catch {
          kind = (error as? LuaError)?.kind
        }
      })
    #expect(throws: LuaError.self) { try state.load("check()", name: "t")() }
    return kind
  }
}
