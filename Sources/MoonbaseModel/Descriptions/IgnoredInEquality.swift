/// A property that says something about a value without being part of it: two values that differ in it alone are equal.
///
/// Places in files are such: a model that was written and read again equals the first.
@propertyWrapper
public struct IgnoredInEquality<Wrapped: Sendable>: Sendable, Hashable {
  /// The property's value.
  public var wrappedValue: Wrapped

  /// Wraps a value.
  public init(wrappedValue: Wrapped) { self.wrappedValue = wrappedValue }

  /// Always true.
  public static func == (left: Self, right: Self) -> Bool { true }

  /// Adds nothing.
  public func hash(into hasher: inout Hasher) {}
}
