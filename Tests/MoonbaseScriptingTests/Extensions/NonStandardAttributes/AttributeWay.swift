import MoonbaseGraph
import MoonbaseModel

/// The languages that implement, set and read non-standard attributes.
enum AttributeWay: String, CaseIterable {
  /// Closures in Swift, and Swift code that sets and reads.
  case swift
  /// An extension in Lua, and scripts that set and read.
  case lua
  /// An extension in Lua; Swift code sets, and scripts read.
  case swiftSets
  /// An extension in Lua; scripts set, and Swift code reads.
  case luaSets

  var hasExtensionInLua: Bool { self != .swift }
  var setsInLua: Bool { self == .lua || self == .luaSets }
  var readsInLua: Bool { self == .lua || self == .swiftSets }
}

/// How a transient attribute follows its shadow.
struct AttributePolicy: CustomStringConvertible {
  var read: DerivedAttribute.ReadPolicy
  var write: DerivedAttribute.WritePolicy

  static let all = [DerivedAttribute.ReadPolicy.onDemand, .preCalculated].flatMap { read in
    [DerivedAttribute.WritePolicy.immediate, .delayed].map { AttributePolicy(read: read, write: $0) }
  }

  /// The policy in an extension in Lua.
  var words: String {
    "read = '\(read == .onDemand ? "on_demand" : "pre_calculated")', write = '\(write == .delayed ? "delayed" : "immediate")'"
  }

  var description: String { words }
}

/// The non-standard attributes of `Shape`, one for each kind of value.
enum ShapeAttribute: String, CaseIterable {
  /// A transformable value of a class.
  case color
  /// A value of a class, stored as text through a transformer.
  case paint
  /// A structure stored as text.
  case bounds
  /// A scalar stored as text.
  case level

  /// The persistent attribute that stores the value.
  var shadow: String? {
    switch self {
    case .color: nil
    case .paint: "paintText"
    case .bounds: "boundsText"
    case .level: "levelText"
    }
  }

  /// The attributes with a shadow.
  static let pairs: [ShapeAttribute] = [.paint, .bounds, .level]

  /// The text form of the value with a number.
  func text(_ number: Int) -> String {
    switch self {
    case .color, .paint: "b=\(number + 2) g=\(number + 1) r=\(number)"
    case .bounds: "h=\(number + 1) w=\(number)"
    case .level: "\(number)"
    }
  }
}
