/// A set of life-cycle methods of `ManagedObject`. Methods outside of a class's `overriddenLifecycleMethods` are not
/// called.
///
/// ```swift
/// final class Person: ManagedObject {
///   override class var overriddenLifecycleMethods: LifecycleHooks { [.willSave] }
///   override func willSave() throws { try setPrimitiveValue("saved", forKey: "state") }
/// }
/// ```
public struct LifecycleHooks: OptionSet, Sendable {
  /// The set as bits.
  public let rawValue: UInt16

  /// Makes a set of bits.
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// `awakeFromInsert()`.
  public static let awakeFromInsert = LifecycleHooks(rawValue: 1)
  /// `awakeFromFetch()`.
  public static let awakeFromFetch = LifecycleHooks(rawValue: 2)
  /// `willSave()`.
  public static let willSave = LifecycleHooks(rawValue: 4)
  /// `didSave()`.
  public static let didSave = LifecycleHooks(rawValue: 8)
  /// `prepareForDeletion()`.
  public static let prepareForDeletion = LifecycleHooks(rawValue: 16)
  /// `willTurnIntoFault()`.
  public static let willTurnIntoFault = LifecycleHooks(rawValue: 32)
  /// `didTurnIntoFault()`.
  public static let didTurnIntoFault = LifecycleHooks(rawValue: 64)
  /// `validateForInsert()`.
  public static let validateForInsert = LifecycleHooks(rawValue: 128)
  /// `validateForUpdate()`.
  public static let validateForUpdate = LifecycleHooks(rawValue: 256)
  /// `validateForDelete()`.
  public static let validateForDelete = LifecycleHooks(rawValue: 512)
  /// `validateValue(_:forKey:)`.
  public static let validateValue = LifecycleHooks(rawValue: 1024)
  /// `awake(fromSnapshotEvents:)`.
  public static let awakeFromSnapshotEvents = LifecycleHooks(rawValue: 2048)
  /// All life-cycle methods.
  public static let all = LifecycleHooks(rawValue: 4095)
}
