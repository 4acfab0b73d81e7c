import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel

/// A script's function as a method of objects, which scripts call directly.
final class ScriptMethod {
  let function: LuaFunction

  /// Measures and limits the calls; nil if not needed.
  private var meter: (meter: RunningExtension, name: String)?
  /// The measuring function.
  private var running: LuaFunction?

  init(_ function: LuaFunction) { self.function = function }

  /// A method whose calls are measured.
  func measured(by meter: RunningExtension?, as name: String) -> ScriptMethod {
    let measured = ScriptMethod(function)
    measured.meter = meter.map { ($0, name) }
    return measured
  }

  /// The function as a Lua value.
  func value(in state: LuaState) throws -> LuaValue {
    guard let (meter, name) = meter else { return .function(function) }
    if let running { return .function(running) }
    let function = function
    let made = try state.function(named: name) { call in
      let arguments = try call.values()
      for result in try meter.run(name, { try function.call(arguments) }) { try call.return(result) }
    }
    running = made.functionValue
    return made
  }
}

extension DomainBuilder {
  /// A method as Swift code calls it.
  func method(_ function: LuaFunction) -> EntityExtension.Method {
    { [types] arguments, object in
      let scripts = try types.openDomain()
      let values = try arguments.map { try scripts.argument($0, ofMethodOf: object) }
      let results = try function.call([scripts.handle(object)] + values)
      return try function.checking { try scripts.graphValue(from: results.first ?? .nil) }
    }
  }
}

extension ScriptDomain {
  /// An argument from Swift code for a method. An object ID is converted to its object.
  fileprivate func argument(_ value: Value, ofMethodOf object: ManagedObject) throws -> LuaValue {
    guard case .objectID(let id) = value, let context = object.managedObjectContext else {
      return try luaValue(from: value)
    }
    return try handle(context.object(with: id))
  }

  /// A method declared by an extension, as a Lua value; nil if no method has the name.
  func extensionMethod(_ name: String, of object: ManagedObject) throws -> LuaValue? {
    guard object.managedObjectContext != nil, let method = try object.method(name) else { return nil }
    if let origin = method.origin as? ScriptMethod { return try origin.value(in: state) }
    let types = types
    return try state.function(named: name) { [unowned types] call in
      let object = try call.object(0, as: ManagedObject.self, name: "object")
      let scripts = try types.openDomain()
      let arguments = try call.values(from: 1).map { try scripts.graphValue(from: $0) }
      try scripts.answer(&call, with: object.call(name, with: arguments))
    }
  }

  /// A function that calls the method with this name. Different objects may have it from different extensions.
  func extensionMethod(_ name: String) throws -> LuaValue? {
    guard knowsMethod(name) else { return nil }
    let types = types
    return try state.function(named: name) { [unowned types] call in
      let object = try call.object(0, as: ManagedObject.self, name: "object")
      guard case .function(let method)? = try types.openDomain().extensionMethod(name, of: object) else {
        throw try object.unknownMethod(name)
      }
      for result in try method.call(call.values()) { try call.return(result) }
    }
  }
}
