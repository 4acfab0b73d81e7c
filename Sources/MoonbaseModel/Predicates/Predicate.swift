/// A condition over an object: Core Data's predicates as values.
///
/// In files that also import Foundation, write `MoonbaseModel.Predicate`, because Foundation has a type `Predicate`
/// too.
///
/// ```swift
/// let adults = try Predicate(format: "age >= %@ AND name BEGINSWITH[c] 'a'", 18)
/// print(try adults.evaluate(with: ["age": 32, "name": "Ann"]))   // true
/// let same = Expression.key("age") >= 18 && Expression.key("name").beginsWith("a", options: .caseInsensitive)
/// ```
public indirect enum Predicate: Sendable, Hashable {
  /// `TRUEPREDICATE` or `FALSEPREDICATE`.
  case constant(Bool)
  /// A comparison of two expressions.
  case comparison(Comparison)
  /// A conjunction; true if empty.
  case and([Predicate])
  /// A disjunction; false if empty.
  case or([Predicate])
  /// A negation.
  case not(Predicate)

  /// A comparison of two expressions.
  public struct Comparison: Sendable, Hashable {
    /// The comparison of a collection on the left side.
    public enum Modifier: Sendable, Hashable {
      /// The collection as a whole.
      case direct
      /// True if any element satisfies the comparison (`ANY`, `SOME`; `NONE` is its negation).
      case any
      /// True if every element satisfies the comparison.
      case all
    }

    /// The comparison's operator.
    public enum Operator: String, Sendable, Hashable, CaseIterable {
      case equal = "=="
      case notEqual = "!="
      case lessThan = "<"
      case lessThanOrEqual = "<="
      case greaterThan = ">"
      case greaterThanOrEqual = ">="
      case between = "BETWEEN"
      case `in` = "IN"
      case contains = "CONTAINS"
      case beginsWith = "BEGINSWITH"
      case endsWith = "ENDSWITH"
      case like = "LIKE"
      case matches = "MATCHES"

      /// The equivalent operator with exchanged sides.
      package var mirrored: Self {
        switch self {
        case .lessThan: .greaterThan
        case .lessThanOrEqual: .greaterThanOrEqual
        case .greaterThan: .lessThan
        case .greaterThanOrEqual: .lessThanOrEqual
        default: self
        }
      }
    }

    /// Options of string comparisons: `[c]`, `[d]`, `[n]`, `[l]`.
    public struct Options: OptionSet, Sendable, Hashable {
      /// The bits.
      public let rawValue: UInt8
      /// Options with these bits.
      public init(rawValue: UInt8) { self.rawValue = rawValue }
      /// `[c]`.
      public static let caseInsensitive = Self(rawValue: 1)
      /// `[d]`.
      public static let diacriticInsensitive = Self(rawValue: 2)
      /// `[n]`.
      public static let normalized = Self(rawValue: 4)
      /// `[l]`.
      public static let localeSensitive = Self(rawValue: 8)
    }

    /// The left side.
    public var left: Expression
    /// The operator.
    public var `operator`: Operator
    /// The right side; a two-element aggregate for `BETWEEN`.
    public var right: Expression
    /// The quantifier.
    public var modifier: Modifier
    /// String options.
    public var options: Options

    /// A comparison.
    public init(
      _ left: Expression, _ operator: Operator, _ right: Expression, modifier: Modifier = .direct,
      options: Options = []
    ) {
      self.left = left
      self.operator = `operator`
      self.right = right
      self.modifier = modifier
      self.options = options
    }
  }
}
