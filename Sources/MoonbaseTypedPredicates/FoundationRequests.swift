public import MoonbaseGraph
public import MoonbaseModel
public import MoonbasePlatform

public import enum MoonbaseModel.Predicate
public import struct MoonbaseModel.SortDescriptor

extension Predicate {
  /// The predicate that `#Predicate` made, for a fetch of objects of a class that declares its key paths (`ManagedObject.keyPaths`).
  ///
  /// ```swift
  /// let adults = try Predicate(#Predicate<Person> { $0.age >= 18 && $0.nickname != "x" })
  /// ```
  ///
  /// It finds what the predicate says in Swift: who has no nickname, too. Comparisons, arithmetic, optionals, `contains`,
  /// `starts(with:)`, ranges, `contains(where:)`, `allSatisfy`, `filter` and counts of relationships have counterparts. Throws
  /// `.predicateMismatch` for what has none, named as Foundation names it, and `.unknownName` for a key path that is not declared.
  public init<Object: ManagedObject>(_ predicate: FoundationPredicate<Object>) throws {
    self = try PredicateConversion.condition(predicate)
  }
}

extension SortDescriptor {
  /// A sort descriptor of Foundation's, for a fetch of objects of a class that declares its key paths (`ManagedObject.keyPaths`).
  ///
  /// Throws `.unknownName` for a key path that is not declared, and `.predicateMismatch` for a comparator of the program's own.
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
  /// A request for the objects of the class that a predicate of Foundation's finds, in the order of its sort descriptors.
  ///
  /// ```swift
  /// let request = try TypedFetchRequest(#Predicate<Person> { $0.age >= 18 }, sortBy: [Foundation.SortDescriptor(\.name)])
  /// ```
  ///
  /// Throws as `Predicate.init(_:)` and `SortDescriptor.init(_:)` do.
  public init(_ predicate: FoundationPredicate<Object>?, sortBy descriptors: [FoundationSortDescriptor<Object>] = [])
    throws
  {
    self.init(where: try predicate.map { try Predicate($0) })
    self.sortDescriptors = try descriptors.map { try SortDescriptor($0) }
  }
}

extension ManagedObjectContext {
  /// The objects of a class that a predicate of Foundation's finds, in the order of its sort descriptors.
  ///
  /// ```swift
  /// let adults = try context.fetch(#Predicate<Person> { $0.age >= 18 })
  /// ```
  ///
  /// Throws as `fetch` does, and for what has no counterpart in a fetch.
  public func fetch<Object: ManagedObject>(
    _ predicate: FoundationPredicate<Object>, sortBy descriptors: [FoundationSortDescriptor<Object>] = []
  ) throws -> [Object] {
    try fetch(TypedFetchRequest(predicate, sortBy: descriptors))
  }
}
