public import MoonbaseGraph
public import MoonbaseModel
public import MoonbasePlatform

public import enum MoonbaseModel.Predicate
public import struct MoonbaseModel.SortDescriptor

extension Predicate {
  /// Converts a `#Predicate`, for a fetch of objects of a class that declares its key paths (`ManagedObject.keyPaths`).
  ///
  /// ```swift
  /// let adults = try Predicate(#Predicate<Person> { $0.age >= 18 && $0.nickname != "x" })
  /// ```
  ///
  /// The result finds the same objects as the predicate in Swift, for example also people without a nickname.
  /// Comparisons, arithmetic, optionals, `contains`, `starts(with:)`, ranges, `contains(where:)`, `allSatisfy`,
  /// `filter` and counts of relationships are supported. Throws `.predicateMismatch` for any other expression, by its
  /// name in Foundation, and `.unknownName` for a key path that is not declared.
  public init<Object: ManagedObject>(_ predicate: FoundationPredicate<Object>) throws {
    self = try PredicateConversion.condition(predicate)
  }
}

extension SortDescriptor {
  /// Converts Foundation's sort descriptor, for a class that declares its key paths (`ManagedObject.keyPaths`).
  ///
  /// Throws `.unknownName` for a key path that is not declared, and `.predicateMismatch` for a custom comparator.
  public init<Object: ManagedObject>(_ descriptor: FoundationSortDescriptor<Object>) throws {
    guard let keyPath = descriptor.keyPath, let order = descriptor.textOrder else {
      throw GraphError(
        .predicateMismatch,
        message: "\(Object.self): a fetch sorts by key paths, and texts in one of the ways of SortDescriptor.Comparator"
      )
    }
    let comparator: Comparator =
      switch order {
      case .plain: .compare
      case .localized: .localizedCompare
      case .localizedStandard: .localizedStandardCompare
      }
    self.init(
      try Object.property(of: keyPath, Object.self).name, ascending: descriptor.order == .forward,
      comparator: comparator)
  }
}

extension TypedFetchRequest {
  /// Makes a request from Foundation's predicate and sort descriptors.
  ///
  /// ```swift
  /// let request = try TypedFetchRequest(
  ///   #Predicate<Person> { $0.age >= 18 }, sortBy: [Foundation.SortDescriptor(\.name)])
  /// ```
  ///
  /// Throws the errors of `Predicate.init(_:)` and `SortDescriptor.init(_:)`.
  public init(_ predicate: FoundationPredicate<Object>?, sortBy descriptors: [FoundationSortDescriptor<Object>] = [])
    throws
  {
    self.init(where: try predicate.map { try Predicate($0) })
    self.sortDescriptors = try descriptors.map { try SortDescriptor($0) }
  }
}
