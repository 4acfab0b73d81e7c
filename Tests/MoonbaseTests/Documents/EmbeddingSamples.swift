// swift-format-ignore-file
// The lines are those of the documents.
import Moonbase
import MoonbaseLua
import MoonbasePlatform

/// The Swift code of documents that is compiled and not run. The code between `shown` and `end` is that of a document.
private enum EmbeddingSamples {
  private final class Person {
    let (name, age) = ("Scarlet", 32)
  }

  private final class Account {
    let number = 1
    var balance = 0.0
  }

  private static func first(person: Person) throws {
    // shown
    let state = try LuaState(preset: .standard, limits: .untrusted)
    // `&*` wraps, as Lua's own `*` does. Swift's `*` would end the process for twice(math.maxinteger). A script chooses the arguments,
    // so count with &+ &- &*, with multipliedReportingOverflow, or check them first.
    try state.setGlobal("twice", to: state.function { call in call.return(try call.integer(0) &* 2) })

    // A source runs in an environment: globals of its own over frozen libraries.
    let environment = try state.environment(["name": "Scarlet"])
    let chunk = try state.load("return twice(21), name", name: "example.lua", in: environment)
    let results = try chunk()                       // [.integer(42), .string("Scarlet")]

    // One function, called for every row: arguments go over as plain data, nothing is allocated for scalars.
    let function = try state.load("return function(a, b) return a * b end", name: "f.lua").first().functionValue
    let call = LuaFastCall(function!, parameters: 2)
    let product = try call.run {
      $0.set(0, integer: 6)
      $0.set(1, integer: 7)
    } reading: { $0.integer }                       // 42

    // Host objects: properties by slot, methods, operators.
    let type = LuaHostType<Person>("Person")
    type.properties(["name", "age"], get: { person, slot, call in
      if slot == 0 { call.return(person.name) } else { call.return(person.age) }
    })
    type.method("greet") { person, call in call.return("Hello, \(try call.text(0))") }
    type.missing { _, key, writing, _ in throw LuaError(.runtime, message: "Person has no '\(key)'") }
    try state.register(type)
    try state.setGlobal("person", to: .object(LuaObject(person, as: type)))
    // end
    _ = results
    _ = product
  }

  private static func functions(in state: LuaState, calling callback: LuaFunction, with current: Account) throws {
    // shown
    // Arguments are read from 0, by kind: integer number boolean text string table function object value. An argument that is missing
    // or of another kind throws "bad argument #2 to 'resize' (number expected, got nil)". `return` may be called several times.
    try state.setGlobal("split", to: state.function { call in
      let separator = call.isNil(1) ? "," : try call.text(1)
      for part in try call.text(0).split(separator: separator) { call.return(String(part)) }
    })

    // One property with a setter, an operator, a text. Argument 0 of a setter is the new value; of an operator the left operand.
    let account = LuaHostType<Account>("account")
    account.property("balance", get: { account, call in call.return(account.balance) },
                     set: { account, call in account.balance = try call.number(0) })
    account.operator(.text) { call in call.return("account \(try call.object(0, as: Account.self, name: "account").number)") }
    try state.register(account)

    // A handle that dies with the callback: `scoped: true` where it is handed over, to an argument or by `call.return`, within `withScope`.
    let visit = LuaFastCall(callback, parameters: 1)
    try state.withScope {
      try visit.run { try $0.set(0, object: current, as: account, scoped: true) } reading: { _ in }
    }
    // end
  }

  private static func coroutines(in state: LuaState) throws {
    // shown
    let thread = try state.load("return function(a) local b = coroutine.yield(a + 1) return b * 2 end", name: "co.lua")
      .first().functionValue!.makeThread()
    try thread.resume([1])        // [.integer(2)], what was yielded
    print(try thread.status)      // .suspended, .running or .dead
    try thread.resume([21])       // [.integer(42)], what was returned
    try thread.close()            // its to-be-closed variables are closed
    // end
  }

  private static func modules(in state: LuaState, scriptFolder: URL) throws {
    var log: [UInt8] = []
    // shown
    state.modules.add("settings", source: LuaSource("return { depth = 3 }", name: "settings.lua"))   // frozen: all scripts share it
    state.modules.add("clock") { state in .table(try state.table(["zone": "UTC"])) }                   // made when first required
    state.modules.roots = [scriptFolder]                                                              // a.b is a/b.lua or a/b/init.lua

    state.output = LuaOutput { bytes, isError in log.append(contentsOf: bytes) }   // bytes live as long as the call; or .none, .standard

    // `moonbase.date` adds a calendar to the program's own dates: a type named "date" with a property `unix`, and a function that makes one.
    let date = LuaValueType<Date>("date")
    date.property("unix") { date, call in call.return(date.timeIntervalSince1970) }
    try state.register(date)
    let unix = try state.function { call in try call.return(Date(timeIntervalSince1970: try call.number(0)), as: date) }
    state.moduleHost["date"] = .table(try state.table(["unix": unix]))     // before the first module is required
    // end
    _ = log
  }

  private static func interpreter() throws {
    // shown
    let state = try LuaState(preset: .trusted, limits: .none)
    let interpreter = try LuaInterpreter(state, program: "lua")
    exit(interpreter.run(file: "program.lua", arguments: ["a", "b"]))
    // end
  }
}
