import MoonbasePlatform
import MoonbaseSQLite
import Testing

/// Values shared by functions within one step of a statement.
@Suite struct CallScopeTests {
  private final class Scope: CallScope {
    var events = ""
    func begin() { events += "(" }
    func end() { events += ")" }
  }

  private struct Refusal: Error, Equatable {}

  private func connection(_ scope: Scope) throws -> Connection {
    let connection = try Connection(":memory:")
    try connection.register(function: "shared", arguments: 1, traits: .deterministic, within: scope) { call in
      scope.events += "s"
      if call.integer(0) == 9 { throw Refusal() }
      call.set(call.integer(0))
    }
    try connection.register(function: "calm", arguments: 1, traits: .deterministic) { call in
      scope.events += "c"
      call.set(call.integer(0))
    }
    try connection.register(function: "other", arguments: 1, traits: []) { call in
      scope.events += "o"
      call.set(call.integer(0))
    }
    return connection
  }

  @Test(arguments: [
    ("SELECT sum(shared(value)) FROM json_each('[1,2,3]')", "(sss)"),
    ("SELECT sum(calm(value) + shared(value)) FROM json_each('[1,2]')", "c(scs)"),
    ("SELECT sum(shared(value) + other(value)) FROM json_each('[1,2]')", "(s)o(s)o"),
    ("SELECT sum(other(value)) FROM json_each('[1,2]')", "oo"),
  ])
  func itBeginsWithTheFirstCallAndEndsWithTheStep(_ sql: String, _ events: String) throws {
    let scope = Scope()
    let connection = try connection(scope)
    _ = try connection.integer(sql)
    #expect(scope.events == events)
  }

  @Test func eachStepHasOneOfItsOwn() throws {
    let scope = Scope()
    let connection = try connection(scope)
    let statement = try connection.statement("SELECT shared(value) FROM json_each('[1,2,9,4]')")
    while try statement.step(), statement.integer(0) < 2 {}
    #expect(scope.events == "(s)(s)")
    #expect(throws: Refusal()) { try statement.step() }
    #expect(scope.events == "(s)(s)(s)")
  }
}
