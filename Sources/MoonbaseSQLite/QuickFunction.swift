package import MoonbasePlatform

/// A function over columns with plain values. In SQL, every second argument is an input, and the number before it gives
/// the input's type.
///
/// The store calls scripts' pure attributes with the type of each input, because a column may hold values of several
/// storage classes. This class converts the arguments to cells and calls the function without Swift values.
package final class QuickFunction {
  /// The function that receives cells.
  private let call: RowCall
  /// The kind of the result's values.
  private let result: RowFunction.Kind
  /// Whether the result is NULL if an input is NULL.
  private let isStrict: Bool
  /// The number of inputs.
  private let count: Int
  /// The kind of a type's values; nil for a type that is not plain.
  private let kind: (Int64) -> RowFunction.Kind?
  /// The types of the inputs in the last call; a type is never negative.
  private let types: UnsafeMutablePointer<Int64>
  /// The function for inputs of these types; nil if a type is not plain. Rows use `current`, without reference
  /// counting.
  private var function: RowFunction? { didSet { current = function.map(Unmanaged.passUnretained) } }
  @exclusivity(unchecked) private var current: Unmanaged<RowFunction>?

  /// A function of `count` inputs. `kind` returns nil for a type whose values are not plain. A strict function is null
  /// if an input is null.
  package init(
    _ call: RowCall, count: Int, result: RowFunction.Kind, isStrict: Bool,
    kind: @escaping (Int64) -> RowFunction.Kind?
  ) {
    (self.call, self.count, self.result, self.isStrict, self.kind) = (call, count, result, isStrict, kind)
    types = .allocate(capacity: max(1, count))
    types.initialize(repeating: -1, count: max(1, count))
  }

  deinit { types.deallocate() }

  /// Calls the function. Returns false for values that it cannot handle.
  @inline(__always)
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

  /// Whether the inputs have the types of the last call.
  @inline(__always)
  private func knowsTypes(of call: borrowing FunctionCall) -> Bool {
    for index in 0..<count where types[index] != call.integer(index &* 2) { return false }
    return true
  }

  /// Makes the function for the types of a call. Not plain types leave it nil.
  private func prepare(for call: borrowing FunctionCall) {
    for index in 0..<count { types[index] = call.integer(index * 2) }
    let kinds = (0..<count).compactMap { kind(types[$0]) }
    function = kinds.count == count ? RowFunction(self.call, of: kinds, count: count, result: result) : nil
  }

  /// Whether any input is NULL.
  @inline(__always)
  private func hasNull(_ call: borrowing FunctionCall) -> Bool {
    for index in 0..<count where call.isNull(index &* 2 &+ 1) { return true }
    return false
  }
}
