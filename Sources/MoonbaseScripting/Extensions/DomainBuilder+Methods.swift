import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel

/// A script's function as a method of objects, which scripts call directly.
///
/// The origin of an `EntityExtension.Method`: scripts call the Lua function itself, without a detour through Swift
/// values, while Swift code calls the closure of `DomainBuilder.method(_:)`.
final class ScriptMethod {
  /// The function, whose first parameter is the object.
  let function: LuaFunction

  /// Measures and limits the calls; nil if not needed.
  private var meter: (meter: RunningExtension, name: String)?
  /// The measuring function. Made at the first use and kept, so that the same method is always the same Lua function.
  private var running: LuaFunction?

  /// A method without measurement.
  init(_ function: LuaFunction) { self.function = function }

  /// A method whose calls are measured. `name` is the name in the profile, as `Person.methods.greet`.
  func measured(by meter: RunningExtension?, as name: String) -> ScriptMethod {
    let measured = ScriptMethod(function)
    measured.meter = meter.map { ($0, name) }
    return measured
  }

  /// The function as a Lua value. Without a meter this is the function itself.
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
  /// A method as Swift code calls it. Arguments and result are converted between values and Lua; a wrong result throws
  /// `.invalidRequest`.
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
  /// An argument from Swift code for a method. An object ID is converted to its object. An ID remains an ID if the
  /// object has no context.
  fileprivate func argument(_ value: Value, ofMethodOf object: ManagedObject) throws -> LuaValue {
    guard case .objectID(let id) = value, let context = object.managedObjectContext else {
      return try luaValue(from: value)
    }
    return try handle(context.object(with: id))
  }

  /// A method declared by an extension, as a Lua value; nil if no method has the name.
  ///
  /// A method written in Swift is wrapped in a Lua function, which converts its arguments and its result.
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

  /// A function that calls the method with this name. Different objects may have it from different extensions. For
  /// `moonbase.object.NAME`. Throws `.unknownName` when called with an object without this method.
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
