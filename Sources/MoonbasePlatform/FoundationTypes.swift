// Names for types of Foundation whose names the model also uses.

/// Foundation's predicate over a single value, made by `#Predicate`.
public typealias FoundationPredicate<Input> = Foundation.Predicate<Input>

/// Foundation's sort descriptor.
public typealias FoundationSortDescriptor<Compared> = Foundation.SortDescriptor<Compared>

/// The order of texts in a sort descriptor of Foundation.
public enum FoundationTextOrder: Sendable {
  /// By characters.
  case plain
  /// By the rules of the current locale.
  case localized
  /// By the rules of the current locale, with numbers by value.
  case localizedStandard
}

extension Foundation.SortDescriptor {
  /// The order of texts; nil for an unnamed comparator.
  public var textOrder: FoundationTextOrder? {
    guard let stringComparator else { return .plain }
    if stringComparator == .lexical { return .plain }
    #if canImport(Darwin)
      if stringComparator == .localized { return .localized }
      if stringComparator == .localizedStandard { return .localizedStandard }
    #endif
    return nil
  }
}
