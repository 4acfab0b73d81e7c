import MoonbaseGraph
import MoonbaseModel
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// A mistake of the program that concerns every object ends a walk over all objects.
@Suite struct MistakeOfProgramTests {
  private func isOfProgram(_ code: String) throws -> Bool {
    let bench = try ScriptBench()
    let domain = try ScriptDomain()
    defer { domain.close() }
    let context = try domain.context(of: StoreHandle(coordinator: bench.coordinator, extensions: bench.extensions))
    try domain.setContext(context)
    let object = try context.insert("Person")
    let function = try ObjectFunction(body: ScriptSource(name: "--do", text: code), in: domain)
    do {
      try function.call(object, in: context)
    } catch {
      return ObjectFunction.isOfProgram(error)
    }
    Issue.record("\(code) raised nothing")
    return false
  }

  @Test(arguments: [
    "context:fetchh('Person')", "context:fetch('Person'):were('age = 1')", "object.frinds = {}", "math.flor(1.5)",
    "string.uper('a')", "('x'):foo()", "moonbase.nope()", "moonbase.date.nope()", "require 'nope'", "nosuch()",
    "context:fetch('Persn')", "object.friends:nope()", "local x = moonbase.model.entities.Persn",
  ])
  func aNameThatIsNotThere(_ code: String) throws { #expect(try isOfProgram(code)) }

  @Test(arguments: [
    "local x = object.department.name", "error('no')", "local handlers = {} handlers[object.firstName or 'x'](object)",
    "object.age = 'x'", "object.department = object.department.name",
  ])
  func whatAnotherObjectMayDo(_ code: String) throws { #expect(try !isOfProgram(code)) }
}
