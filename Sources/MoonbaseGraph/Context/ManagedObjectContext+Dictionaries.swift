public import MoonbaseModel
import MoonbasePlatform

/// A column of a dictionary result: a key path (`section.name`) or an aggregate over one (`@sum.size`, `@count`).
public struct DictionaryColumn: Sendable, Hashable {
  /// The key in the results.
  public var name: String
  /// The key path; it may begin with `@count @sum @avg @min @max`.
  public var keyPath: String

  /// Makes a column.
  public init(name: String, keyPath: String) {
    self.name = name
    self.keyPath = keyPath
  }
}

extension ManagedObjectContext {
  /// Values instead of objects: one dictionary for each group, or for each object where nothing is grouped or aggregated.
  ///
  /// `@count` of a key path skips missing values; `@sum` of nothing is 0, `@avg`, `@min` and `@max` of nothing are absent. An
  /// aggregate beside plain columns that are not grouped repeats the value over all rows.
  public func fetchDictionaries(_ request: FetchRequest, columns: [DictionaryColumn], groupBy: [String] = []) throws
    -> [[String: Value]]
  {
    let plan = try FetchPlan(request, in: self)
    for path in groupBy + columns.map(\.keyPath) { try Aggregate.check(path, entity: plan.entity, model: model) }
    let objects = try plan.objects()
    let hasAggregates = columns.contains { $0.keyPath.hasPrefix("@") }
    if !groupBy.isEmpty { return try groups(objects, columns, groupBy) }
    if hasAggregates, columns.allSatisfy({ $0.keyPath.hasPrefix("@") }) { return [try row(objects, columns)] }
    let whole = try row(objects, columns.filter { $0.keyPath.hasPrefix("@") })
    return try objects.map { object in
      try row([object], columns.filter { !$0.keyPath.hasPrefix("@") }).merging(whole) { own, _ in own }
    }
  }

  private func groups(_ objects: [ManagedObject], _ columns: [DictionaryColumn], _ keys: [String]) throws
    -> [[String: Value]]
  {
    var order: [[Value]] = []
    var members: [[Value]: [ManagedObject]] = [:]
    let paths = keys.map(Aggregate.components)
    for object in objects {
      let key = try paths.map { try object.value(atPath: $0) }
      if members[key] == nil { order.append(key) }
      members[key, default: []].append(object)
    }
    return try order.map { try row(members[$0] ?? [], columns) }
  }

  private func row(_ objects: [ManagedObject], _ columns: [DictionaryColumn]) throws -> [String: Value] {
    var result: [String: Value] = [:]
    for column in columns {
      let value = try Aggregate(column.keyPath).value(of: objects)
      if !value.isNull { result[column.name] = value }
    }
    return result
  }
}

/// One aggregate, or the plain value of the first object.
private struct Aggregate {
  private let function: String?
  private let path: [String]

  init(_ keyPath: String) {
    let parts = Self.components(keyPath)
    function = parts.first?.hasPrefix("@") == true ? parts[0] : nil
    path = function == nil ? parts : Array(parts.dropFirst())
  }

  static func components(_ keyPath: String) -> [String] { keyPath.split(separator: ".").map(String.init) }

  static func check(_ keyPath: String, entity: ResolvedEntity, model: ResolvedModel) throws {
    let aggregate = Aggregate(keyPath)
    if let function = aggregate.function, !["@count", "@sum", "@avg", "@min", "@max"].contains(function) {
      throw GraphError(.invalidRequest, "\(keyPath): there is no aggregate \(function): use @count @sum @avg @min @max")
    }
    var current = entity
    for (index, key) in aggregate.path.enumerated() {
      if key == "@count", index > 0 { return }
      guard let property = current.property(key) else {
        let hint = nearestName(to: key, among: current.properties.map(\.name)).map { ": did you mean \($0)?" } ?? ""
        throw GraphError(
          .unknownName, "\(keyPath): \(current.name) has no property \(key)\(hint)", entity: current.name, property: key
        )
      }
      if let relationship = property.relationship { current = model.entities[relationship.destination] }
    }
  }

  func value(of objects: [ManagedObject]) throws -> Value {
    guard let function else { return try objects.first?.value(atPath: path) ?? .null }
    if function == "@count", path.isEmpty { return .int(Int64(objects.count)) }
    let values = try objects.map { try $0.value(atPath: path) }.filter { !$0.isNull }
    switch function {
    case "@count": return .int(Int64(values.count))
    case "@min": return values.min { Value.order($0, $1) == .ascending } ?? .null
    case "@max": return values.max { Value.order($0, $1) == .ascending } ?? .null
    case "@sum": return try Self.sum(values)
    default:
      guard !values.isEmpty else { return .null }
      return .double(Self.double(try Self.sum(values)) / Double(values.count))
    }
  }

  private static func sum(_ values: [Value]) throws -> Value {
    var integers: Int64 = 0
    var isInteger = true
    var doubles = 0.0
    for value in values {
      if case .int(let number) = value {
        let (sum, overflow) = integers.addingReportingOverflow(number)
        if overflow { isInteger = false }
        integers = sum
      } else {
        isInteger = false
      }
      doubles += double(value)
    }
    return isInteger ? .int(integers) : .double(doubles)
  }

  private static func double(_ value: Value) -> Double {
    switch value {
    case .int(let number): Double(number)
    case .double(let number): number
    case .bool(let truth): truth ? 1 : 0
    case .decimal(let number): NSDecimalNumber(decimal: number).doubleValue
    case .date(let date): date.timeIntervalSinceReferenceDate
    default: 0
    }
  }
}

extension ManagedObject {
  /// The value at a key path through to-one relationships; `@count` of a to-many one. Null where something is missing.
  package final func value(atPath path: [String]) throws -> Value {
    var object = self
    for (index, key) in path.enumerated() {
      if index == path.count - 1 { return try object.value(forKey: key) }
      let slot = try object.slot(of: key)
      if case .toMany = object.entity.properties[slot].kind, path[index + 1] == "@count" {
        return .int(Int64(try object.memberCount(slot)))
      }
      guard let next = try object.object(forKey: key) else { return .null }
      object = next
    }
    return .null
  }
}
