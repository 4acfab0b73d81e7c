extension ModelDifference: CustomStringConvertible {
  /// The difference as text: `+` added, `-` removed, `~` changed or renamed; `!` marks changes that require a
  /// migration.
  ///
  /// For example, `~ entity Person !` is followed by `  + age: type integer16`.
  public var description: String {
    if isEmpty { return "no difference" }
    return (entities.map { "\($0)" } + others.map { "~ \($0)" }).joined(separator: "\n")
  }
}

extension DifferenceKind {
  /// The mark at the beginning of a line.
  fileprivate var mark: String {
    switch self {
    case .added: "+"
    case .removed: "-"
    case .renamed, .changed: "~"
    }
  }
}

extension EntityDifference: CustomStringConvertible {
  /// The entity's line, followed by a line for each difference.
  public var description: String {
    let was = oldName.map { " (was \($0))" } ?? ""
    let head = "\(kind.mark) entity \(name)\(was)\(needsMigration ? " !" : "")"
    let lines = aspects.map { "    \($0)" } + properties.map { "  \($0)" }
    return ([head] + lines).joined(separator: "\n")
  }
}

extension PropertyDifference: CustomStringConvertible {
  /// The property's line with all differences.
  public var description: String {
    let was = oldName.map { " (was \($0))" } ?? ""
    let moved = movedBetween.map { kind == .removed ? " (moved to \($0))" : " (moved from \($0))" } ?? ""
    let what = aspects.isEmpty ? "" : ": \(aspects.map { "\($0)" }.joined(separator: ", "))"
    return "\(kind.mark) \(name)\(was)\(moved)\(needsMigration ? " !" : "")\(what)"
  }
}

extension AspectDifference: CustomStringConvertible {
  /// `aspect old → new`, or the aspect with the only value.
  public var description: String {
    switch (old, new) {
    case (let old?, let new?): "\(aspect) \(old) → \(new)"
    case (let old?, nil): "\(aspect) was \(old)"
    case (nil, let new?): "\(aspect) \(new)"
    case (nil, nil): aspect
    }
  }
}
