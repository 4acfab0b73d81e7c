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
      let quick = QuickFunction(function, at: index, of: instances)
      // The first argument of each input is its type, so that a date or a UUID arrives as what it is.
      try connection.register(
        function: DerivedFunctions.name(index, generation: provider.generation),
        arguments: Int32(function.inputs.count * 2),
        traits: [.deterministic, .directOnly], within: (instances as? any RowFunctionInstances)?.scope
      ) { [weak instances, row = quick.map(Unmanaged.passUnretained)] call in
        if let row, row._withUnsafeGuaranteedRef({ $0.perform(call) }) { return }
        // The closure keeps it, and does not count that for each row.
        withExtendedLifetime(quick) {}
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

/// A pure function over columns in which values lie as they are.
private final class QuickFunction {
  private let call: RowCall
  private let result: RowFunction.Kind
  private let isStrict: Bool
  private let count: Int
  /// The types of the inputs of the last call; no type is negative.
  private let types: UnsafeMutablePointer<Int64>
  /// The function over inputs of these types; nil where a type is not plain. Rows use `current`, whose reference is
  /// not counted.
  private var function: RowFunction? { didSet { current = function.map(Unmanaged.passUnretained) } }
  @exclusivity(unchecked) private var current: Unmanaged<RowFunction>?

  init?(_ function: PureFunction, at index: Int, of instances: any PureFunctionInstances) {
    guard let call = (instances as? any RowFunctionInstances)?.rowCall(index),
      let result = RowFunction.Kind(function.type)
    else { return nil }
    (self.call, self.result) = (call, result)
    (isStrict, count) = (function.isStrict, function.inputs.count)
    types = .allocate(capacity: max(1, count))
    types.initialize(repeating: -1, count: max(1, count))
  }

  deinit { types.deallocate() }

  /// False where it knows no answer.
  func perform(_ call: borrowing FunctionCall) -> Bool {
    if !knowsTypes(of: call) { prepare(for: call) }
    guard let current else { return false }
    if isStrict, hasNull(call) {
      call.setNull()
      return true
    }
    return current._withUnsafeGuaranteedRef { function in
      guard function.compute(call, from: 1, by: 2) else { return false }
      function.set(on: call)
      return true
    }
  }

  private func knowsTypes(of call: borrowing FunctionCall) -> Bool {
    for index in 0..<count where types[index] != call.integer(index * 2) { return false }
    return true
  }

  private func prepare(for call: borrowing FunctionCall) {
    for index in 0..<count { types[index] = call.integer(index * 2) }
    let kinds = (0..<count).compactMap { AttributeType(rawValue: Int(types[$0])).flatMap { RowFunction.Kind($0) } }
    function = kinds.count == count ? RowFunction(self.call, of: kinds, count: count, result: result) : nil
  }

  private func hasNull(_ call: borrowing FunctionCall) -> Bool {
    for index in 0..<count where call.isNull(index * 2 + 1) { return true }
    return false
  }
}
