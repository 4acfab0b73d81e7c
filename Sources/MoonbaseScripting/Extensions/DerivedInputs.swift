import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// The arguments of a derived attribute's function: the values of its inputs, followed by the object if the attribute
/// requests it.
///
/// Each derived attribute with `inputs` has a value of this type, made when the extension is applied to a context and
/// captured by the getter. Arguments go from the row's cells to Lua without intermediate values where all inputs are
/// attributes of the object itself (`Cells.call`); otherwise key paths are evaluated first.
struct DerivedInputs {
  private struct Input {
    var value: CompiledExpression
    /// Whether the value is an object or a list of objects. Scripts receive objects instead of IDs.
    var isOfObjects: Bool
  }

  /// An expression per input, compiled against the entity.
  private let inputs: [Input]
  /// The names of the inputs if all are attributes of the object itself; else empty.
  private let ownNames: [Symbol]
  /// Whether a missing input makes the result nil without a call (`strict = true`).
  private let isStrict: Bool
  /// Whether the object follows the inputs (`object = true`).
  private let passesObject: Bool

  /// The number of arguments of the function.
  var count: Int { inputs.count + (passesObject ? 1 : 0) }

  /// Returns nil if the attribute lists no inputs. Throws `.unknownName` and other errors about invalid key paths.
  init?(_ derived: ExtensionDeclaration.Derived, of entity: String, in model: ResolvedModel) throws {
    guard let paths = derived.inputs, let owner = model.entity(entity) else { return nil }
    inputs = try paths.map { path in
      Input(
        value: try CompiledExpression(.keyPath(path), entity: owner, in: model),
        isOfObjects: !derived.isPure && model.endsInObjects(path, from: owner))
    }
    (isStrict, passesObject) = (derived.isStrict, derived.passesObject)
    let isOfOwn = !passesObject && paths.allSatisfy { owner.property($0)?.attribute != nil }
    ownNames = isOfOwn ? paths.map(Symbol.init) : []
  }

  /// Calls `body` with the values of all inputs. Returns nil if a required input is missing.
  ///
  /// The values are on this call's stack, because computing an input may compute the same attribute of another object.
  ///
  /// The buffer has an element per input and is valid until `body` returns. Computing inputs may fire faults and run
  /// other getters.
  func withValues<Result>(of object: ManagedObject, _ body: (UnsafeMutableBufferPointer<Value>) throws -> Result) throws
    -> Result?
  {
    try withUnsafeTemporaryAllocation(of: Value.self, capacity: inputs.count) { values in
      var count = 0
      defer { values[..<count].deinitialize() }
      for input in inputs {
        let value = try input.value.value(object)
        if isStrict, value.isNull { return nil }
        values.initializeElement(at: count, to: value)
        count += 1
      }
      return try body(values)
    }
  }

  /// How the arguments can be passed. Decides between the quick path and the general one in a getter.
  enum Cells {
    /// All inputs are cells, to be passed directly.
    case call
    /// A required input is missing.
    case missing
    /// An input is not a cell, so values are needed.
    case none
  }

  /// Whether all inputs are cells of the object's row.
  ///
  /// `.none` if an input is an unsaved or transformed value, or if the inputs are not plain attributes. Throws errors
  /// of firing the object's fault.
  func cells(of object: ManagedObject) throws -> Cells {
    if ownNames.isEmpty { return .none }
    for name in ownNames {
      switch try object.inputCell(of: name).kind {
      case .other: return .none
      case .null where isStrict: return .missing
      default: break
      }
    }
    return .call
  }

  /// Sets the arguments of the function to the cells of an object. Call this only after `cells(of:)` returned `.call`;
  /// the arguments are borrowed until the call ends.
  func set(_ arguments: borrowing LuaArguments, toCellsOf object: ManagedObject, _ types: HostTypes) throws {
    for index in ownNames.indices { try arguments.set(index, to: object.inputCell(of: ownNames[index]), types) }
  }

  /// Sets the arguments of the function to the values and the object. IDs are converted to objects for inputs that are
  /// relationships.
  func set(
    _ arguments: borrowing LuaArguments, to values: UnsafeMutableBufferPointer<Value>, of object: ManagedObject,
    in scripts: ScriptDomain
  ) throws {
    for index in values.indices {
      if inputs[index].isOfObjects, !values[index].isNull {
        try arguments.set(index, to: scripts.objects(values[index], in: object.managedObjectContext))
      } else {
        try scripts.setArgument(index, of: arguments, to: values[index])
      }
    }
    if passesObject { try arguments.set(inputs.count, object: object, as: scripts.types.type(of: object.entity)) }
  }
}

extension ScriptDomain {
  /// The object of an ID, the objects of a list of IDs, or the value itself. Charges a unit of host work per object.
  fileprivate func objects(_ value: Value, in context: ManagedObjectContext?) throws -> LuaValue {
    guard let context else { return try luaValue(from: value) }
    switch value {
    case .objectID(let id): return try handle(context.object(with: id))
    case .list(let list):
      return .table(
        try state.list(
          list.map { element in
            try HostWork.charge()
            return element.isNull ? .null : try objects(element, in: context)
          }))
    default: return try luaValue(from: value)
    }
  }
}

extension ResolvedModel {
  /// Whether a path ends with a relationship, without an operator that makes a number of it. For example
  /// `department.employees`, but not `department.employees.@count`.
  fileprivate func endsInObjects(_ path: String, from entity: ResolvedEntity) -> Bool {
    var place = entity
    var isRelationship = false
    for key in path.split(separator: ".") {
      if key.hasPrefix("@") {
        isRelationship = false
        continue
      }
      guard let property = place.property(String(key)) else { return false }
      isRelationship = property.relationship != nil
      if let relationship = property.relationship { place = destination(of: relationship) }
    }
    return isRelationship
  }
}

extension LuaArguments {
  /// Sets an argument to a cell of a row, which must stay valid until the call has ended.
  func set(_ index: Int, to cell: RawCell, _ types: HostTypes) throws {
    switch cell.kind {
    case .null, .other: setNil(index)
    case .bool: set(index, boolean: cell.bool)
    case .int: set(index, integer: cell.int)
    case .double: set(index, number: cell.double)
    case .text, .data: set(index, borrowedBytes: cell.bytes)
    case .date: try set(index, Date(timeIntervalSinceReferenceDate: cell.double), as: types.date)
    }
  }
}
