import MoonbaseGraph
import MoonbaseModel

/// Who keeps non-standard attributes, sets and reads them.
enum AttributeWay: String, CaseIterable {
  /// Closures of Swift, and Swift code that sets and reads.
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

  /// As an extension in Lua says it.
  var words: String {
    "read = '\(read == .onDemand ? "on_demand" : "pre_calculated")', write = '\(write == .delayed ? "delayed" : "immediate")'"
  }

  var description: String { words }
}

/// The attributes of `Shape` that are not standard. Each stands for another kind of value.
enum ShapeAttribute: String, CaseIterable {
  /// A transformable of a class.
  case color
  /// A value of a class over text, by a transformer.
  case paint
  /// A structure over text.
  case bounds
  /// A scalar over text.
  case level

  /// The persistent attribute behind it.
  var shadow: String? {
    switch self {
    case .color: nil
    case .paint: "paintText"
    case .bounds: "boundsText"
    case .level: "levelText"
    }
  }

  /// Those that have a shadow.
  static let pairs: [ShapeAttribute] = [.paint, .bounds, .level]

  /// One of many values, as it is written.
  func text(_ number: Int) -> String {
    switch self {
    case .color, .paint: "b=\(number + 2) g=\(number + 1) r=\(number)"
    case .bounds: "h=\(number + 1) w=\(number)"
    case .level: "\(number)"
    }
  }
}
