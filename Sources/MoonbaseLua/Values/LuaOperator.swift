/// The metamethods of a host type.
///
/// ```swift
/// type.operator(.equal) { call in
///   let first: Money = try call.object(0), second: Money = try call.object(1)
///   call.return(first.cents == second.cents)
/// }
/// ```
public struct LuaOperator: Sendable, Hashable {
  /// The name of the metamethod.
  let name: String

  /// `+`
  public static let add = LuaOperator(name: "__add")
  /// `-`
  public static let subtract = LuaOperator(name: "__sub")
  /// `*`
  public static let multiply = LuaOperator(name: "__mul")
  /// `/`
  public static let divide = LuaOperator(name: "__div")
  /// `//`
  public static let floorDivide = LuaOperator(name: "__idiv")
  /// `%`
  public static let modulo = LuaOperator(name: "__mod")
  /// `^`
  public static let power = LuaOperator(name: "__pow")
  /// Unary `-`
  public static let negate = LuaOperator(name: "__unm")
  /// `==`
  public static let equal = LuaOperator(name: "__eq")
  /// `<`
  public static let less = LuaOperator(name: "__lt")
  /// `<=`
  public static let lessOrEqual = LuaOperator(name: "__le")
  /// `..`
  public static let concatenate = LuaOperator(name: "__concat")
  /// `#`
  public static let length = LuaOperator(name: "__len")
  /// `tostring`
  public static let text = LuaOperator(name: "__tostring")
  /// `pairs`
  public static let pairs = LuaOperator(name: "__pairs")
  /// Leaving the block of a `<close>` variable
  public static let close = LuaOperator(name: "__close")
  /// A call
  public static let call = LuaOperator(name: "__call")
}

extension LuaOperator {
  /// The words of a message about two operands, such as "compare date with nil"; nil for a unary operator.
  func phrase(_ left: String, _ right: String) -> String? {
    switch self {
    case .less, .lessOrEqual: "compare \(left) with \(right)"
    case .concatenate: "concatenate \(left) with \(right)"
    default: sign.map { "calculate \(left) \($0) \(right)" }
    }
  }

  /// The sign of an arithmetic operator.
  private var sign: String? {
    switch self {
    case .add: "+"
    case .subtract: "-"
    case .multiply: "*"
    case .divide: "/"
    case .floorDivide: "//"
    case .modulo: "%"
    case .power: "^"
    default: nil
    }
  }
}
