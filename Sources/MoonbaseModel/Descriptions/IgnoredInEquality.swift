/// A property that is left out of equality: two values that differ only in it are equal.
///
/// Places in files are an example. A model that was written and read again equals the original.
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
