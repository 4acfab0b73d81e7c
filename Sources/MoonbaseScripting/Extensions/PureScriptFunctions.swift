import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// The pure derived attributes of a generation of extensions. Their functions are instantiated for each store
/// connection.
///
/// A store translates a pure attribute in a predicate or a sort key to a call of a SQL function. This provider tells
/// the store the signatures, and makes the functions for each connection in a Lua state of their own, because
/// connections work on several threads. Made once per generation and shared by its contexts.
final class PureScriptFunctions: PureFunctionProvider {
  /// Unique within the process, so that a connection notices a new generation.
  let generation: UInt64
  /// The signatures, in the order of the declarations. Their indexes are the arguments of `call(_:inputs:)`.
  let functions: [PureFunction]
  /// The entities, by attribute, that derive an attribute of the same name in another way. Queries over them cannot use
  /// the pure function.
  let overriding: [String: Set<String>]
  /// The functions of the connections.
  let made = MadeFunctions()
  /// The files, which are run again for each connection.
  private let sources: [ScriptSource]
  private let modules: ExtensionModules
  private let limits: LuaLimits
  private let profile: ExtensionProfile?
  private let standings: ExtensionStandings

  /// The source of `generation`.
  private static let counter = Lock(UInt64(0))

  /// Nil if no extension has a pure attribute. Attributes of Swift code are never pure.
  init?(
    _ declarations: [ExtensionDeclaration], beside swift: ExtensionRegistry, sources: [ScriptSource],
    modules: ExtensionModules, limits: LuaLimits, profile: ExtensionProfile?,
    standings: ExtensionStandings
  ) {
    var functions: [PureFunction] = []
    var overriding: [String: Set<String>] = [:]
    for (entity, entries) in swift.extensions {
      for derived in entries.flatMap({ $0.derived + $0.stored }) {
        overriding[derived.name, default: []].insert(entity)
      }
    }
    for entity in declarations.flatMap(\.entities) {
      for derived in entity.derived {
        if derived.isPure, let inputs = derived.inputs, let type = derived.type {
          functions.append(
            PureFunction(
              entity: entity.name, name: derived.name, inputs: inputs, type: type, isStrict: derived.isStrict))
        } else {
          overriding[derived.name, default: []].insert(entity.name)
        }
      }
    }
    guard !functions.isEmpty else { return nil }
    (self.functions, self.overriding) = (functions, overriding)
    self.sources = sources
    self.modules = modules
    self.limits = limits
    (self.profile, self.standings) = (profile, standings)
    generation = Self.counter.withLock {
      $0 += 1
      return $0
    }
  }

  /// Runs the files in a new state of preset `pure`, on the calling thread. Throws `.invalidExtension` if an attribute
  /// is not declared there, and the errors of the files.
  func makeFunctions() throws -> any PureFunctionInstances {
    let domain = try ScriptDomain(preset: .pure, limits: limits)
    var byName: [String: LuaFunction] = [:]
    var meters: [String: RunningExtension] = [:]
    for declaration in try domain.declarations(of: sources, modules, standings: standings) {
      for (name, value) in declaration.classes { try domain.register(class: name, methods: value) }
      for entity in declaration.entities {
        for derived in entity.derived where derived.isPure {
          byName["\(entity.name).\(derived.name)"] = derived.get
          meters["\(entity.name).\(derived.name)"] = RunningExtension(
            declaration.source.name, profile: profile, standing: standings[declaration.source], in: domain.state)
        }
      }
    }
    return PureScriptInstances(
      domain,
      functions: try functions.map { function in
        guard let get = byName["\(function.entity).\(function.name)"] else {
          throw ScriptError(
            .invalidExtension, message: "\(function.entity).\(function.name) is there only outside of preset pure")
        }
        return (get, function, meters["\(function.entity).\(function.name)"])
      })
  }
}

/// The pure functions of a connection, in their own Lua state.
///
/// Confined to the thread of the connection, as `PureFunctionInstances` requires. The state has its own limits and
/// neither contexts nor files.
final class PureScriptInstances: RowFunctionInstances {
  /// A prepared function. A class, so that the call for each row copies nothing.
  private final class Call {
    /// The prepared call, with an argument per input.
    let fast: LuaFastCall
    /// The script's function.
    let get: LuaFunction
    /// The signature.
    let function: PureFunction
    /// Checks results against the declared type.
    let attribute: AttributeDescription
    /// Measures and limits the calls; nil if not needed.
    let meter: RunningExtension?
    /// The name under which calls are measured.
    let name: String

    /// Prepares a function.
    init(_ get: LuaFunction, _ function: PureFunction, _ meter: RunningExtension?) {
      (self.get, self.function, self.meter) = (get, function, meter)
      fast = LuaFastCall(get, parameters: function.inputs.count)
      attribute = AttributeDescription(function.name, type: function.type)
      name = "\(function.entity).derived.\(function.name).get"
    }
  }

  /// The domain of the state.
  private let domain: ScriptDomain
  /// The functions, by the indexes of the signatures.
  private let calls: [Call]
  /// A run of the state that lasts as long as a statement, so that limits count for the statement as a whole.
  let scope: any CallScope

  /// Takes over the domain, which is used for nothing else.
  init(_ domain: ScriptDomain, functions: [(LuaFunction, PureFunction, RunningExtension?)]) {
    self.domain = domain
    scope = LuaSharedRun(of: domain.state)
    calls = functions.map { get, function, meter in Call(get, function, meter) }
  }

  /// Measured or limited calls use the slower path through `call`. Nil for these. The quick path calls Lua from C
  /// without Swift values.
  func rowCall(_ index: Int) -> RowCall? { calls[index].meter == nil ? calls[index].get.rowCall : nil }

  /// The value of a function for a row. A strict function is not called if an input is null. Throws
  /// `.extensionFailure`, naming entity and attribute, for errors of the function.
  func call(_ index: Int, inputs: [Value]) throws -> Value {
    let call = calls[index]
    if call.function.isStrict, inputs.contains(where: \.isNull) { return .null }
    return try blaming(call) {
      guard let meter = call.meter else { return try domain.state.runNested { try run(call, inputs) } }
      return try meter.run(call.name) { try run(call, inputs) }
    }
  }

  /// Calls the function, converts the result to the declared type and checks it.
  private func run(_ call: Call, _ inputs: [Value]) throws -> Value {
    let value = try call.fast.run { arguments in
      for (index, value) in inputs.enumerated() { try domain.setArgument(index, of: arguments, to: value) }
    } reading: {
      try domain.graphValue(from: $0, for: call.function.type)
    }
    if value.needsNoCheck(for: call.function.type) { return value }
    return try call.get.checking { try call.attribute.computed(value) }
  }

  /// Converts an error of the function to a `GraphError` that names entity and attribute. Errors that end the run stay
  /// unchanged.
  private func blaming(_ call: Call, _ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch let error as any ScriptFailure {
      let function = call.function
      let ended = GraphError(
        endOf: error, in: "get", entity: function.entity, property: function.name, objectID: nil)
      if let ended { throw ended }
      if error.endsRun { throw error }
      let code = (error as? ScriptError)?.codeOfScript ?? .extensionFailure
      throw GraphError(
        code, message: "\(function.entity).\(function.name): get: \(error)", entity: function.entity,
        property: function.name, underlying: error)
    }
  }
}
