import MoonbasePlatform

/// The order of two values.
///
/// The raw values are those of `ComparisonResult` in Foundation.
package enum ValueOrder: Int8, Sendable {
  /// The left value comes first.
  case ascending = -1
  /// The values are equal in the order.
  case same = 0
  /// The right value comes first.
  case descending = 1

  /// The order of two comparable values.
  @inline(__always)
  init<T: Comparable>(_ left: T, _ right: T) { self = left < right ? .ascending : left == right ? .same : .descending }

  /// The opposite order.
  package var reversed: ValueOrder {
    switch self {
    case .ascending: .descending
    case .same: .same
    case .descending: .ascending
    }
  }
}

extension Value {
  /// The order of two values of the same kind; nil for values without an order, for example a string and a number, or
  /// NaN.
  ///
  /// Integers, floating-point numbers, decimals, booleans and dates (as seconds since 2001) are the same kind and are
  /// compared exactly. Strings are compared by code point, as in SQLite.
  package static func compare(_ left: Value, _ right: Value) -> ValueOrder? {
    switch (left, right) {
    case (.int(let left), .int(let right)): return ValueOrder(left, right)
    case (.string(let left), .string(let right)): return compareBytes(left, right)
    case (.list, .list), (.map, .map):
      return haveSameLeaves(left, right) { compareScalars($0, $1) == .same } ? .same : nil
    default: return compareScalars(left, right)
    }
  }

  /// The order of two values that are no lists or maps.
  private static func compareScalars(_ left: Value, _ right: Value) -> ValueOrder? {
    switch (left, right) {
    case (.int(let left), .int(let right)): return ValueOrder(left, right)
    case (.string(let left), .string(let right)): return compareBytes(left, right)
    case (.date(let left), .date(let right)): return ValueOrder(left, right)
    case (.double(let left), .double(let right)):
      return left.isNaN || right.isNaN ? nil : ValueOrder(left, right)
    case (.data(let left), .data(let right)): return compareBytes(left, right)
    case (.uuid(let left), .uuid(let right)): return compareBytes(left, right)
    case (.uri(let left), .uri(let right)): return compareBytes(left.absoluteString, right.absoluteString)
    case (.objectID(let left), .objectID(let right)):
      return left == right ? .same : compare(left, right)
    case (.null, .null): return .same
    case (.object, .object): return left == right ? .same : nil
    default: return compareNumbers(left, right)
    }
  }

  /// A total order for sorting: null first, then by kind, then by value.
  ///
  /// The kinds are null, NaN, numbers with booleans and dates, strings, data, and the others.
  package static func order(_ left: Value, _ right: Value) -> ValueOrder {
    order(left, right, levels: TreeLimits.greatestDepth)
  }

  /// Lists nested deeper than the limit compare as equal.
  private static func order(_ left: Value, _ right: Value, levels: Int) -> ValueOrder {
    if let order = compare(left, right) { return order }
    if levels == 0 { return .same }
    let (leftRank, rightRank) = (left.rank, right.rank)
    if leftRank != rightRank { return ValueOrder(leftRank, rightRank) }
    if case .list(let left) = left, case .list(let right) = right {
      for (left, right) in zip(left, right) {
        let order = order(left, right, levels: levels - 1)
        if order != .same { return order }
      }
      return ValueOrder(left.count, right.count)
    }
    if case .double(let left) = left, case .double(let right) = right {
      // NaN sorts before every number.
      return ValueOrder(left.isNaN ? 0 : 1, right.isNaN ? 0 : 1)
    }
    return .same
  }

  /// The position of a kind of values in the total order.
  private var rank: Int {
    switch self {
    case .null: 0
    case .double(let value) where value.isNaN: 1
    case .bool, .int, .double, .decimal, .date: 2
    case .string: 3
    case .data: 4
    case .uuid: 5
    case .uri: 6
    case .objectID: 7
    case .list: 8
    case .map: 9
    case .object: 10
    }
  }

  // MARK: Numbers

  /// The exact order of two numbers of any kinds; nil for NaN.
  private static func compareNumbers(_ left: Value, _ right: Value) -> ValueOrder? {
    guard let left = left.asNumber, let right = right.asNumber else { return nil }
    if left.isNoDecimal || right.isNoDecimal { return compareNoDecimals(left, right) }
    switch (left, right) {
    case (.int(let left), .int(let right)): return ValueOrder(left, right)
    case (.double(let left), .double(let right)): return left.isNaN || right.isNaN ? nil : ValueOrder(left, right)
    case (.int(let left), .double(let right)): return compare(left, right)
    case (.double(let left), .int(let right)): return compare(right, left)?.reversed
    case (_, .double(let double)) where double.isNaN: return nil
    case (.double(let double), _) where double.isNaN: return nil
    case (_, .double(let double)) where double.isInfinite: return double > 0 ? .ascending : .descending
    case (.double(let double), _) where double.isInfinite: return double > 0 ? .descending : .ascending
    default:
      if let left = left.asDecimal, let right = right.asDecimal { return ValueOrder(left, right) }
      // A double outside of a decimal's range.
      return left.asDouble.flatMap { left in right.asDouble.map { ValueOrder(left, $0) } }
    }
  }

  /// Decimal NaN equals itself and is less than every number, as in `NSDecimalNumber.compare`.
  private static func compareNoDecimals(_ left: Value, _ right: Value) -> ValueOrder? {
    if [left, right].contains(where: { $0.double?.isNaN == true }) { return nil }
    return ValueOrder(left.isNoDecimal ? 0 : 1, right.isNoDecimal ? 0 : 1)
  }

  /// Whether the value is `NSDecimalNumber.notANumber`.
  private var isNoDecimal: Bool {
    if case .decimal(let number) = self { number.isNaN } else { false }
  }

  /// Exact, because conversion to Double would lose digits.
  private static func compare(_ left: Int64, _ right: Double) -> ValueOrder? {
    if right.isNaN { return nil }
    if right >= 0x1p63 { return .ascending }
    if right < -0x1p63 { return .descending }
    let whole = Int64(right.rounded(.down))
    if left != whole { return ValueOrder(left, whole) }
    return right > Double(whole) ? .ascending : .same
  }

  /// The value as a number: `.int`, `.double` or `.decimal`; nil for other types.
  package var asNumber: Value? {
    switch self {
    case .int, .double, .decimal: self
    case .bool(let value): .int(value ? 1 : 0)
    case .date(let date): .double(date.timeIntervalSinceReferenceDate)
    default: nil
    }
  }

  /// A number as a decimal. A Double is converted by its shortest text, so that 0.1 stays 0.1.
  private var asDecimal: Decimal? {
    switch self {
    case .int(let value): Decimal(value)
    case .double(let value): Decimal(literal: value.description)
    case .decimal(let value): value
    default: nil
    }
  }

  // MARK: Bytes

  /// The order of two texts by their UTF-8 bytes, which is that of their code points.
  static func compareBytes(_ left: String, _ right: String) -> ValueOrder {
    if let order = left.utf8.withContiguousStorageIfAvailable({ left in
      right.utf8.withContiguousStorageIfAvailable {
        compareBytes(UnsafeRawBufferPointer(left), UnsafeRawBufferPointer($0))
      }
    }), let order {
      return order
    }
    return left.utf8.lexicographicallyPrecedes(right.utf8)
      ? .ascending : right.utf8.lexicographicallyPrecedes(left.utf8) ? .descending : .same
  }

  /// The order of two data by their bytes.
  private static func compareBytes(_ left: Data, _ right: Data) -> ValueOrder {
    left.withUnsafeBytes { left in right.withUnsafeBytes { compareBytes(left, $0) } }
  }

  /// The order of two UUIDs by their bytes.
  private static func compareBytes(_ left: UUID, _ right: UUID) -> ValueOrder {
    withUnsafeBytes(of: left.uuid) { left in withUnsafeBytes(of: right.uuid) { compareBytes(left, $0) } }
  }

  /// The order of bytes; a beginning comes before the longer bytes.
  private static func compareBytes(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> ValueOrder {
    let common = min(left.count, right.count)
    if common > 0, let leftBase = left.baseAddress, let rightBase = right.baseAddress {
      let order = memcmp(leftBase, rightBase, common)
      if order != 0 { return order < 0 ? .ascending : .descending }
    }
    return ValueOrder(left.count, right.count)
  }

  /// The order of two IDs: store, entity name, key.
  private static func compare(_ left: ManagedObjectID, _ right: ManagedObjectID) -> ValueOrder {
    if left.storeNumber != right.storeNumber { return ValueOrder(left.storeNumber, right.storeNumber) }
    if left.entitySymbol != right.entitySymbol { return ValueOrder(left.entityName, right.entityName) }
    return ValueOrder(left.key, right.key)
  }
}
