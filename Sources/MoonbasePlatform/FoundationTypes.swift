// Names for types of Foundation whose own names the model gives to types of its own.

/// Foundation's predicate over one value, which `#Predicate` makes.
public typealias FoundationPredicate<Input> = Foundation.Predicate<Input>

/// Foundation's sort descriptor.
public typealias FoundationSortDescriptor<Compared> = Foundation.SortDescriptor<Compared>

/// How one of Foundation's sort descriptors orders texts.
public enum FoundationTextOrder: Sendable {
  /// By their characters.
  case plain
  /// As a person expects in the current locale.
  case localized
  /// The same, with numbers by value.
  case localizedStandard
}

extension Foundation.SortDescriptor {
  /// How texts are ordered; nil for a way that has no name.
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
