import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// The pure derived attributes of a generation of extensions. Their functions are instantiated for each store
/// connection.
final class PureScriptFunctions: PureFunctionProvider {
  let generation: UInt64
  let functions: [PureFunction]
  let overriding: [String: Set<String>]
  let made = MadeFunctions()
  private let sources: [ScriptSource]
  private let modules: ExtensionModules
  private let limits: LuaLimits
  private let profile: ExtensionProfile?
  private let standings: ExtensionStandings

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
final class PureScriptInstances: RowFunctionInstances {
  /// A prepared function. A class, so that the call for each row copies nothing.
  private final class Call {
    let fast: LuaFastCall
    let get: LuaFunction
    let function: PureFunction
    let attribute: AttributeDescription
    let meter: RunningExtension?
    /// The name under which calls are measured.
    let name: String

    init(_ get: LuaFunction, _ function: PureFunction, _ meter: RunningExtension?) {
      (self.get, self.function, self.meter) = (get, function, meter)
      fast = LuaFastCall(get, parameters: function.inputs.count)
      attribute = AttributeDescription(function.name, type: function.type)
      name = "\(function.entity).derived.\(function.name).get"
    }
  }

  private let domain: ScriptDomain
  private let calls: [Call]
  let scope: any CallScope

  init(_ domain: ScriptDomain, functions: [(LuaFunction, PureFunction, RunningExtension?)]) {
    self.domain = domain
    scope = LuaSharedRun(of: domain.state)
    calls = functions.map { get, function, meter in Call(get, function, meter) }
  }

  /// Measured or limited calls use the slower path through `call`.
  func rowCall(_ index: Int) -> RowCall? { calls[index].meter == nil ? calls[index].get.rowCall : nil }

  func call(_ index: Int, inputs: [Value]) throws -> Value {
    let call = calls[index]
    if call.function.isStrict, inputs.contains(where: \.isNull) { return .null }
    return try blaming(call) {
      guard let meter = call.meter else { return try domain.state.runNested { try run(call, inputs) } }
      return try meter.run(call.name) { try run(call, inputs) }
    }
  }

  private func run(_ call: Call, _ inputs: [Value]) throws -> Value {
    let value = try call.fast.run { arguments in
      for (index, value) in inputs.enumerated() { try domain.setArgument(index, of: arguments, to: value) }
    } reading: {
      try domain.graphValue(from: $0, for: call.function.type)
    }
    if value.needsNoCheck(for: call.function.type) { return value }
    return try call.get.checking { try call.attribute.computed(value) }
  }

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
