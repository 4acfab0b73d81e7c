import MoonbasePlatform

/// Functions over a collection. Missing elements are skipped; the sum of nothing is 0, its mean nothing.
extension PredicateFunction {
  func reduce(_ collection: Value) throws(ModelError) -> Value {
    let elements: [Value]
    switch collection {
    case .list(let list): elements = list.filter { !$0.isNull }
    case .null: elements = []
    default: throw refusal(of: collection)
    }
    switch self {
    case .count: return .int(Int64(elements.count))
    case .min: return elements.min { Value.order($0, $1) == .ascending } ?? .null
    case .max: return elements.max { Value.order($0, $1) == .ascending } ?? .null
    case .mode: return mode(elements)
    case .sum: return try sum(elements)
    default: return try statistic(elements)
    }
  }

  /// Integers are summed exactly, however large they grow on the way; a sum that 64 bits cannot hold is a double.
  private func sum(_ elements: [Value]) throws(ModelError) -> Value {
    var integers = WideSum()
    var others = Value.int(0)
    for element in elements {
      let number = try number(element)
      if case .int(let integer) = number {
        integers.add(integer)
      } else {
        others = try Arithmetic.evaluate(.add, others, number)
        if others.isNull { return .null }
      }
    }
    return try Arithmetic.evaluate(.add, others, integers.value)
  }

  private func number(_ value: Value) throws(ModelError) -> Value {
    if case .date = value { throw refusal(of: value) }
    guard let number = value.asNumber else { throw refusal(of: value) }
    return number
  }

  private func statistic(_ elements: [Value]) throws(ModelError) -> Value {
    guard !elements.isEmpty else { return .null }
    if self == .average, elements.contains(where: \.isDecimal) {
      return try Arithmetic.evaluate(.divide, try sum(elements), .decimal(Decimal(elements.count)))
    }
    if self == .average {
      guard let total = try sum(elements).asDouble else { return .null }
      return .number(total / Double(elements.count))
    }
    var numbers: [Double] = []
    for element in elements { numbers.append(try double(try number(element))) }
    let mean = numbers.reduce(0, +) / Double(numbers.count)
    switch self {
    case .median:
      numbers.sort()
      let middle = numbers.count / 2
      return .double(numbers.count.isMultiple(of: 2) ? (numbers[middle - 1] + numbers[middle]) / 2 : numbers[middle])
    case .standardDeviation:
      let squares = numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
      return .double((squares / Double(numbers.count)).squareRoot())
    default: return .double(mean)
    }
  }

  /// The most frequent element; of several the first.
  private func mode(_ elements: [Value]) -> Value {
    var counts: [Value: Int] = [:]
    for element in elements { counts[element, default: 0] += 1 }
    let most = counts.values.max()
    return elements.first { counts[$0] == most } ?? .null
  }
}

extension Value {
  fileprivate var isDecimal: Bool {
    if case .decimal = self { true } else { false }
  }
}
