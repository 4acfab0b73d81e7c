extension Value {
  /// The lists and maps within a list or a map.
  private var branches: [Value] {
    switch self {
    case .list(let list): list.filter(\.isBranch)
    case .map(let map): map.values.filter(\.isBranch)
    default: []
    }
  }

  /// Whether the value is a list or a map.
  private var isBranch: Bool {
    switch self {
    case .list, .map: true
    default: false
    }
  }

  /// Whether lists and maps are nested deeper than 100 levels, or number more than a million.
  package var isNestedTooDeeply: Bool { isBranch && TreeLimits.areExceeded(by: self, \.branches) }

  /// Returns the value, or throws `.invalidValue` if it is nested too deeply to be stored, compared or written.
  package func checkedNesting() throws(ModelError) -> Value {
    guard isNestedTooDeeply else { return self }
    throw ModelError(
      .invalidValue,
      message:
        "has lists and maps nested more than \(TreeLimits.greatestDepth) levels deep, or more than a million of them: make it flatter"
    )
  }
}

extension Value {
  /// Throws if the value is or contains an object of a script's class, whose equality only the script knows.
  @inline(__always)
  package func checkComparable() throws(ModelError) {
    switch self {
    case .object, .list, .map: try checkParts()
    default: return
    }
  }

  /// Throws `.evaluation` if an object of a script's class is among the parts.
  private func checkParts() throws(ModelError) {
    guard !isNestedTooDeeply else { return }
    var pending = [self]
    while let value = pending.popLast() {
      switch value {
      case .object(let object):
        throw ModelError(
          .evaluation,
          message: "a \(object.className) cannot be compared here, since only its own class knows how: "
            + "compare what it is made of, for example a derived attribute, or compare in the script")
      case .list(let list): pending += list
      case .map(let map): pending += map.values
      default: continue
      }
    }
  }
}
