import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport

/// A rectangle, for which there is no attribute type. Its text form is "x,y,width,height".
struct Rect: Equatable {
  var x, y, width, height: Double

  init(_ x: Double, _ y: Double, _ width: Double, _ height: Double) {
    (self.x, self.y, self.width, self.height) = (x, y, width, height)
  }

  /// The rectangle as an attribute value.
  var value: Value { .list([x, y, width, height].map(Value.double)) }
  var text: Value { .string([x, y, width, height].map { "\($0)" }.joined(separator: ",")) }

  init?(text: Value) {
    guard case .string(let text) = text else { return nil }
    let parts = text.split(separator: ",").compactMap { Double($0) }
    guard parts.count == 4 else { return nil }
    self.init(parts[0], parts[1], parts[2], parts[3])
  }

  init?(value: Value) {
    guard case .list(let list) = value else { return nil }
    let parts = list.compactMap { if case .double(let number) = $0 { number } else { nil } }
    guard parts.count == 4 else { return nil }
    self.init(parts[0], parts[1], parts[2], parts[3])
  }
}

/// A shape written as Apple's guide writes it: a transient attribute `bounds` over a persistent one, `boundsAsString`.
///
/// Source: Core Data Programming Guide, Non-Standard Persistent Attributes.
class Shape: ManagedObject {
  class var readsEarly: Bool { false }
  class var writesLate: Bool { false }
  /// How often the text was decoded.
  private(set) var decoded = 0
  /// Whether `willSave` has to write the text.
  private var isWaiting = false

  override class var customAccessors: [CustomAccessor] {
    [CustomAccessor("bounds", of: Shape.self, get: { try $0.bounds() }, set: { try $0.setBounds($1) })]
  }

  private func bounds() throws -> Value {
    try willAccessValue(forKey: "bounds")
    let known = try primitiveValue(forKey: "bounds")
    try didAccessValue(forKey: "bounds")
    // While a null value waits for `willSave`, it is the current value.
    guard known.isNull, !isWaiting else { return known }
    return try decode()
  }

  private func decode() throws -> Value {
    guard let rect = Rect(text: try value(forKey: "boundsAsString")) else { return .null }
    decoded += 1
    try setPrimitiveValue(rect.value, forKey: "bounds")
    return rect.value
  }

  private func setBounds(_ value: Value) throws {
    try willChangeValue(forKey: "bounds")
    try setPrimitiveValue(value, forKey: "bounds")
    try didChangeValue(forKey: "bounds")
    if Self.writesLate {
      isWaiting = true
    } else {
      try setValue(Rect(value: value)?.text ?? .null, forKey: "boundsAsString")
    }
  }

  override func awakeFromFetch() throws {
    try super.awakeFromFetch()
    if Self.readsEarly { _ = try decode() }
  }

  override func willSave() throws {
    if isWaiting {
      let rect = Rect(value: try primitiveValue(forKey: "bounds"))
      try setPrimitiveValue(rect?.text ?? .null, forKey: "boundsAsString")
    }
    try super.willSave()
  }

  override func didSave() throws { isWaiting = false }
  override func didTurnIntoFault() throws { isWaiting = false }
}

final class EarlyShape: Shape {
  override class var readsEarly: Bool { true }
}

final class LateShape: Shape {
  override class var writesLate: Bool { true }
}

final class EarlyLateShape: Shape {
  override class var readsEarly: Bool { true }
  override class var writesLate: Bool { true }
}

/// Shapes over a store, whose attribute `bounds` is computed by a subclass or by an extension.
final class ShadowBench {
  /// The implementation that keeps the two attributes in step.
  enum Way: CaseIterable {
    case subclass, closure
  }

  let stores: StoreBench
  private let way: Way
  private let read: DerivedAttribute.ReadPolicy
  private let write: DerivedAttribute.WritePolicy
  private let count = Switch()

  init(
    _ kind: StoreKind, _ way: Way, read: DerivedAttribute.ReadPolicy = .onDemand,
    write: DerivedAttribute.WritePolicy = .immediate, isRequired: Bool = false, isShadowRequired: Bool = false
  ) throws {
    (self.way, self.read, self.write) = (way, read, write)
    var shape = EntityDescription("Shape")
    if way == .subclass { shape.managedObjectClassName = "Shape" }
    var bounds = AttributeDescription("bounds", type: .undefined)
    bounds.isTransient = true
    bounds.isOptional = !isRequired
    var text = AttributeDescription("boundsAsString", type: .string)
    text.isOptional = !isShadowRequired
    shape.attributes = [AttributeDescription("name", type: .string), bounds, text]
    stores = try StoreBench(kind, ManagedObjectModel(entities: [shape]))
    stores.coordinator.register(Self.type(read, write), forClassName: "Shape")
  }

  private static func type(_ read: DerivedAttribute.ReadPolicy, _ write: DerivedAttribute.WritePolicy) -> Shape.Type {
    switch (read, write) {
    case (.onDemand, .immediate): Shape.self
    case (.preCalculated, .immediate): EarlyShape.self
    case (.onDemand, .delayed): LateShape.self
    case (.preCalculated, .delayed): EarlyLateShape.self
    }
  }

  func context() -> ManagedObjectContext {
    guard way == .closure else { return stores.context() }
    return stores.context(extending: "Shape") { [read, write, count] entry in
      entry.derived = [
        DerivedAttribute(
          "bounds", ownInputs: ["boundsAsString"], shadow: "boundsAsString", readPolicy: read, writePolicy: write,
          get: { shape in
            guard let rect = Rect(text: try shape.value(forKey: "boundsAsString")) else { return .null }
            count.value += 1
            return rect.value
          }, set: { try $1.setValue(Rect(value: $0)?.text ?? .null, forKey: "boundsAsString") })
      ]
    }
  }

  /// How often the text of a shape was decoded.
  func decoded(_ object: ManagedObject) -> Int { (object as? Shape)?.decoded ?? count.value }
}
