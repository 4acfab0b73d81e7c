extension Value {
  /// The lists and maps that a list or a map holds.
  private var branches: [Value] {
    switch self {
    case .list(let list): list.filter(\.isBranch)
    case .map(let map): map.values.filter(\.isBranch)
    default: []
    }
  }

  private var isBranch: Bool {
    switch self {
    case .list, .map: true
    default: false
    }
  }

  /// Whether lists and maps are nested deeper than 100 levels, or are more than a million.
  package var isNestedTooDeeply: Bool { isBranch && TreeLimits.areExceeded(by: self, \.branches) }

  /// The value, or `.invalidValue` where it is nested too deeply to be kept, compared or written.
  package func checkedNesting() throws(ModelError) -> Value {
    guard isNestedTooDeeply else { return self }
    throw ModelError(
      .invalidValue,
      "has lists and maps nested more than \(TreeLimits.greatestDepth) levels deep, or more than a million of them: make it flatter"
    )
  }
}
