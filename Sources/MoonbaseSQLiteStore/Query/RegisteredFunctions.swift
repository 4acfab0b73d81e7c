import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

/// The pure derived attributes of one generation of scripts, registered on one connection.
///
/// Their SQL names carry the generation, so that a new one never redefines a function that a statement is using: SQLite refuses that, and
/// to remove one, as long as any statement of the connection runs. The names stay with the connection, 130 bytes each. What they call
/// belongs to the provider, which goes with the last statement that may call it.
final class RegisteredFunctions {
  private weak var provider: (any PureFunctionProvider)?
  private let instances: ObjectIdentifier

  /// Whether nobody can ask for them any more.
  var isOutdated: Bool { provider == nil }

  init(_ provider: any PureFunctionProvider, on connection: Connection) throws {
    let instances = try provider.makeFunctions()
    (self.provider, self.instances) = (provider, ObjectIdentifier(instances))
    provider.made.keep(instances)
    for (index, function) in provider.functions.enumerated() {
      // The first argument of each input is its type, so that a date or a UUID arrives as what it is.
      try connection.register(
        function: DerivedFunctions.name(index, generation: provider.generation),
        arguments: Int32(function.inputs.count * 2),
        traits: [.deterministic, .directOnly], within: (instances as? any RowFunctionInstances)?.scope,
        quick: QuickFunction(function, at: index, of: instances)
      ) { [weak instances] call in
        guard let instances else {
          throw GraphError(
            .invalidRequest, message: "\(function.entity).\(function.name): the scripts that compute it are gone")
        }
        try Self.perform(function, at: index, instances: instances, call: call)
      }
    }
  }

  deinit { provider?.made.letGo(instances) }

  private static func perform(
    _ function: PureFunction, at index: Int, instances: any PureFunctionInstances, call: borrowing FunctionCall
  ) throws {
    var inputs: [Value] = []
    inputs.reserveCapacity(function.inputs.count)
    for place in 0..<function.inputs.count {
      let type = AttributeType(rawValue: Int(call.integer(place * 2)))
      guard SQLValue.isSound(call, at: place * 2 + 1, type: type) else {
        throw GraphError(
          .invalidStore,
          message:
            "\(function.entity).\(function.name) is computed from \(function.inputs[place]), and a row holds in that column what the attribute cannot be: `moonbase doctor` names the rows",
          entity: function.entity, property: function.name)
      }
      inputs.append(SQLValue.value(call, at: place * 2 + 1, type: type))
    }
    if function.isStrict && inputs.contains(.null) { return call.setNull() }
    let result = try instances.call(index, inputs: inputs)
    let size = LargeValue.size(result)
    if size > LargeValue.greatest { throw LargeValue.error(function.entity, property: function.name, size: size) }
    SQLValue.set(result, on: call)
  }
}

extension QuickFunction {
  /// Nil where something on the way of the function has to be seen to, or its values do not lie in columns as they are.
  fileprivate convenience init?(_ function: PureFunction, at index: Int, of instances: any PureFunctionInstances) {
    guard let call = (instances as? any RowFunctionInstances)?.rowCall(index),
      let result = RowFunction.Kind(function.type)
    else { return nil }
    self.init(call, count: function.inputs.count, result: result, isStrict: function.isStrict) { type in
      AttributeType(rawValue: Int(type)).flatMap { RowFunction.Kind($0) }
    }
  }
}
