import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

/// The pure derived attributes of one generation of scripts, registered on a connection.
///
/// The SQL names contain the generation, so that a new generation never redefines a function: SQLite refuses to
/// redefine or remove a function while any statement of the connection runs. The names stay with the connection, at 130
/// bytes each. The implementations belong to the provider, which is released with the last statement that may call
/// them.
///
/// A connection makes the functions when a query first uses the provider (`Session.register`). Predicates, sort
/// descriptors and batch updates call them by `DerivedFunctions.name`.
final class RegisteredFunctions {
  /// Weak, since connections live longer than a generation of scripts.
  private weak var provider: (any PureFunctionProvider)?
  /// Names the instances to the provider in `deinit`.
  private let instances: ObjectIdentifier

  /// Whether the provider is gone, so that no query calls the functions any more.
  var isOutdated: Bool { provider == nil }

  /// Makes an instance of the functions for this connection. Throws errors of the provider and of SQLite.
  init(_ provider: any PureFunctionProvider, on connection: Connection) throws {
    let instances = try provider.makeFunctions()
    (self.provider, self.instances) = (provider, ObjectIdentifier(instances))
    provider.made.keep(instances)
    for (index, function) in provider.functions.enumerated() {
      // Each input is preceded by its type, so that a date or a UUID keeps its type.
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

  /// Arguments come in pairs of type and value. Throws `.invalidStore` for a column whose content is no value of its
  /// attribute, and `.invalidValue` for a result that is too large.
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

/// The fast path for functions that compute a value from plain columns.
extension QuickFunction {
  /// Returns nil where calls are measured or limited, or where the stored form of a value is not the value itself. The
  /// functions are then called without a `Value` for each argument.
  fileprivate convenience init?(_ function: PureFunction, at index: Int, of instances: any PureFunctionInstances) {
    guard let call = (instances as? any RowFunctionInstances)?.rowCall(index),
      let result = RowFunction.Kind(function.type)
    else { return nil }
    self.init(call, count: function.inputs.count, result: result, isStrict: function.isStrict) { type in
      AttributeType(rawValue: Int(type)).flatMap { RowFunction.Kind($0) }
    }
  }
}
