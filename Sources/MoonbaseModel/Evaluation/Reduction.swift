import MoonbasePlatform

/// A running aggregate of a collection. It receives the elements singly and keeps only the state that the function
/// needs.
///
/// Null elements are skipped. The sum of no elements is 0 and their average is null. A sum of decimals is a decimal,
/// even without elements.
package struct Reduction {
  /// The function.
  private let function: PredicateFunction
  /// The number of elements that are not null.
  private var count = 0
  /// The least or greatest element.
  private var extreme: Value?
  // Integers are summed exactly, without overflow of intermediate sums.
  private var integers = WideSum()
  /// The sum of doubles and decimals; null after an undefined result.
  private var others = Value.int(0)
  /// Whether a decimal was added, so that the result is a decimal.
  private var hasDecimals = false
  /// The numbers seen, for functions that need all elements.
  private var numbers: [Double] = []
  /// The number of occurrences of each element, and the position of its first occurrence.
  private var frequencies: [Value: (count: Int, order: Int)] = [:]

  /// The estimated bytes of the elements kept.
  package private(set) var weight = 0

  /// An aggregate without elements. `ofDecimals` says that all elements are decimals, so that an empty sum is a
  /// decimal.
  package init(_ function: PredicateFunction, ofDecimals: Bool = false) {
    self.function = function
    if ofDecimals { (others, hasDecimals) = (.decimal(0), true) }
  }

  /// Adds an element. Throws if the function does not accept it.
  package mutating func add(_ element: Value) throws(ModelError) {
    if element.isNull { return }
    count += 1
    if function == .min || function == .max || function == .mode { try element.checkComparable() }
    switch function {
    case .count: break
    case .min: if extreme.map({ Value.order(element, $0) == .ascending }) ?? true { keep(element) }
    case .max: if extreme.map({ Value.order($0, element) == .ascending }) ?? true { keep(element) }
    case .mode: note(element)
    case .sum, .average: try addToSum(element)
    default:
      numbers.append(try function.double(try number(element)))
      weight += 16
    }
  }

  /// Keeps an element as the extreme.
  private mutating func keep(_ element: Value) {
    extreme = element
    weight = element.weight
  }

  /// Counts an element, for the mode.
  private mutating func note(_ element: Value) {
    let former = frequencies.count
    frequencies[element, default: (0, count)].count += 1
    if frequencies.count > former { weight += 96 + element.weight }
  }

  /// Adds an element to the sum. Throws `.evaluation` for values that are no numbers.
  private mutating func addToSum(_ element: Value) throws(ModelError) {
    if case .decimal = element { hasDecimals = true }
    if others.isNull { return }
    let number = try number(element)
    if case .int(let integer) = number {
      integers.add(integer)
    } else {
      others = try Arithmetic.evaluate(.add, others, number)
    }
  }

  /// The number of an element. Dates are refused, although they are numbers in SQL.
  private func number(_ value: Value) throws(ModelError) -> Value {
    if case .date = value { throw function.refusal(of: value) }
    guard let number = value.asNumber else { throw function.refusal(of: value) }
    return number
  }

  /// The function's value over the elements added so far.
  package var value: Value {
    get throws(ModelError) {
      switch function {
      case .count: .int(Int64(count))
      case .min, .max: extreme ?? .null
      case .mode: mode
      case .sum: try exactSum
      case .average: try average
      case .median: median
      default: deviation
      }
    }
  }

  /// The sum. Throws for a sum of integers that overflows 64 bits.
  private var exactSum: Value {
    get throws(ModelError) {
      let sum = try sum
      if case .double = sum, case .int = others { throw .sumTooLarge() }
      return sum
    }
  }

  /// The sum, as a double if a sum of integers overflows 64 bits.
  package var sum: Value {
    get throws(ModelError) { others.isNull ? .null : try Arithmetic.evaluate(.add, others, integers.value) }
  }

  /// The average; null without elements.
  private var average: Value {
    get throws(ModelError) {
      if count == 0 { return .null }
      if hasDecimals { return try Arithmetic.evaluate(.divide, try sum, .decimal(Decimal(count))) }
      guard let total = try sum.asDouble else { return .null }
      return .number(total / Double(count))
    }
  }

  /// The median. For an even number of elements, the average of the middle two.
  private var median: Value {
    if numbers.isEmpty { return .null }
    let sorted = numbers.sorted()
    let middle = sorted.count / 2
    return .double(sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle])
  }

  /// The standard deviation of the population.
  private var deviation: Value {
    if numbers.isEmpty { return .null }
    let mean = numbers.reduce(0, +) / Double(numbers.count)
    let squares = numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
    return .double((squares / Double(numbers.count)).squareRoot())
  }

  /// The most frequent element; of several, the first to occur.
  private var mode: Value {
    let most = frequencies.values.map(\.count).max()
    return frequencies.filter { $0.value.count == most }.min { $0.value.order < $1.value.order }?.key ?? .null
  }
}
