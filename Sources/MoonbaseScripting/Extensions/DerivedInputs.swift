import MoonbaseGraph
import MoonbaseModel

/// What a derived attribute is computed from.
struct DerivedInputs {
  private let expressions: [CompiledExpression]
  private let isStrict: Bool

  var count: Int { expressions.count }

  /// Nil where the attribute lists no inputs.
  init?(_ derived: ExtensionDeclaration.Derived, of entity: String, in model: ResolvedModel) throws {
    guard let inputs = derived.inputs, let owner = model.entity(entity) else { return nil }
    expressions = try inputs.map { try CompiledExpression(.keyPath($0), entity: owner, in: model) }
    isStrict = derived.isStrict
  }

  /// Calls `body` with the value of every input; nil where one is missing and all are needed.
  ///
  /// The values lie on this call's own stack: computing one may compute the same attribute of another object.
  func withValues<Result>(of object: ManagedObject, _ body: (UnsafeMutableBufferPointer<Value>) throws -> Result) throws
    -> Result?
  {
    try withUnsafeTemporaryAllocation(of: Value.self, capacity: expressions.count) { values in
      var count = 0
      defer { values[..<count].deinitialize() }
      for expression in expressions {
        let value = try expression.value(object)
        if isStrict, value.isNull { return nil }
        values.initializeElement(at: count, to: value)
        count += 1
      }
      return try body(values)
    }
  }
}
