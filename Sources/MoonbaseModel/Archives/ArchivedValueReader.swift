import MoonbasePlatform

/// Turns a keyed archive into a `Value`. The archive may be hostile, so references are checked and the unfolded size is
/// bounded.
///
/// The reader follows references from the root and builds a value; no class is instantiated. A
/// shared object is read once for each reference. Errors are `.malformedFile`; work and memory are
/// charged to the running script.
struct ArchivedValueReader: ~Copyable {
  /// The most values that an archive may unfold into. Archived objects may share parts, so a small file can unfold into
  /// many.
  private static let greatestCount = 1_000_000
  /// The memory charged for a value in addition to its bytes, which the value shares with the archive.
  private static let valueWeight = 64

  /// The contents of `$objects`.
  private let objects: [PropertyList]
  /// The indexes of the objects on the path from the root to the object being read; a repeated index is a cycle.
  private var open: Set<Int> = []
  /// The number of values read so far.
  private var count = 0
  /// The memory charged for the values.
  private var memory = HostMemory()

  /// A reader of an archive's objects.
  private init(_ objects: [PropertyList]) { self.objects = objects }

  /// Reads the root object of a property list. Throws `.malformedFile` for other property lists.
  static func read(_ plist: PropertyList) throws(ModelError) -> Value {
    guard plist["$archiver"]?.string == "NSKeyedArchiver", let objects = plist["$objects"]?.array,
      let top = plist["$top"]?.dictionary
    else { throw damaged("the property list is no keyed archive") }
    guard let root = top["root"] else { throw damaged("it has no root object") }
    var reader = ArchivedValueReader(objects)
    return try reader.value(root, depth: 1)
  }

  // MARK: Values

  /// The value of a field, which holds either a reference or a plain value.
  private mutating func value(_ field: PropertyList, depth: Int) throws(ModelError) -> Value {
    count += 1
    guard count <= Self.greatestCount else {
      throw Self.damaged("it unfolds into more than \(Self.greatestCount) values")
    }
    guard depth <= TreeLimits.greatestDepth + 1 else {
      throw Self.damaged("it is nested more than \(TreeLimits.greatestDepth) levels deep")
    }
    try ModelError.charge()
    try memory.holdForModel(Self.valueWeight)
    switch field {
    case .uid(let number): return try object(Int(number), depth: depth)
    case .string(let text): return .string(text)
    case .integer(let number): return .int(number)
    case .real(let number): return .double(number)
    case .bool(let bool): return .bool(bool)
    case .data(let data): return .data(data)
    case .date(let date):
      guard date.timeIntervalSinceReferenceDate.isFinite else { throw Self.damaged("a date is no point in time") }
      return .date(date)
    case .array(let elements): return .list(try values(elements, depth: depth))
    case .dictionary(let fields): return .map(try parts(fields, depth: depth))
    }
  }

  /// The value of an object by its index in `$objects`.
  private mutating func object(_ index: Int, depth: Int) throws(ModelError) -> Value {
    let object = try object(at: index)
    guard case .dictionary(let fields) = object, let reference = fields["$class"] else {
      if object == "$null" { return .null }
      return try value(object, depth: depth)
    }
    let names = try classNames(reference)
    guard open.insert(index).inserted else {
      throw Self.damaged("an object of class \(TextLimits.beginning(of: names[0])) contains itself, which no value can")
    }
    defer { open.remove(index) }
    return try value(ofClass: names, fields, depth: depth)
  }

  /// The object at an index. Throws for an index outside of the archive, and for a reference to a
  /// reference.
  private func object(at index: Int) throws(ModelError) -> PropertyList {
    guard index < objects.count else { throw Self.damaged("a reference leads to no object") }
    let object = objects[index]
    if case .uid = object { throw Self.damaged("a reference leads to another one") }
    return object
  }

  /// An upper bound for the ancestors read for an object. No class of Foundation's values has as many.
  private static let greatestAncestorCount = 16

  /// The name of a class, and those of its ancestors where they are stated.
  private func classNames(_ reference: PropertyList) throws(ModelError) -> [String] {
    guard case .uid(let index) = reference, let name = try object(at: Int(index))["$classname"]?.string else {
      throw Self.damaged("an object has no class")
    }
    let ancestors = try object(at: Int(index))["$classes"]?.array?.prefix(Self.greatestAncestorCount) ?? []
    return [name] + ancestors.compactMap(\.string)
  }

  /// Private subclasses of Foundation such as `__NSArrayM` are read as the public class that they inherit from.
  ///
  /// An object of a class without a counterpart becomes a map with the class name under
  /// `ValueArchive.classKey`.
  private mutating func value(
    ofClass names: [String], _ fields: [String: PropertyList], depth: Int
  ) throws(ModelError) -> Value {
    let name = names.first { !$0.hasPrefix("__NS") } ?? names[0]
    if let value = Value(archivedAs: name, fields) { return value }
    let known: Value? =
      switch name {
      case "NSArray", "NSMutableArray", "NSSet", "NSMutableSet", "NSOrderedSet", "NSMutableOrderedSet":
        try elements(fields, depth: depth)
      case "NSDictionary", "NSMutableDictionary": try map(fields, depth: depth)
      case "NSURL": try url(fields, depth: depth)
      default: nil
      }
    if let known { return known }
    var parts = try parts(fields, depth: depth)
    parts[ValueArchive.classKey] = .string(names[0])
    return .map(parts)
  }

  // MARK: Collections

  /// The values of the elements of a collection, in order.
  private mutating func values(_ fields: [PropertyList], depth: Int) throws(ModelError) -> [Value] {
    var result: [Value] = []
    for field in fields { result.append(try value(field, depth: depth + 1)) }
    return result
  }

  /// The fields of an object by name, without those that are null.
  private mutating func parts(_ fields: [String: PropertyList], depth: Int) throws(ModelError) -> [String: Value] {
    let named = fields.filter { $0.key != "$class" }.sorted { $0.key < $1.key }
    var result: [String: Value] = [:]
    for (key, value) in zip(named.map(\.key), try values(named.map(\.value), depth: depth)) where !value.isNull {
      result[key] = value
    }
    return result
  }

  /// The elements of an ordered set, which numbers its fields.
  private mutating func elements(_ fields: [String: PropertyList], depth: Int) throws(ModelError) -> Value? {
    if let objects = fields["NS.objects"] {
      guard let objects = objects.array else { return nil }
      return .list(try values(objects, depth: depth))
    }
    var numbered: [PropertyList] = []
    while let element = fields["NS.object.\(numbered.count)"] { numbered.append(element) }
    return .list(try values(numbered, depth: depth))
  }

  /// The map of a dictionary whose keys are strings; nil where a key is no string or two keys are equal in Swift.
  private mutating func map(_ fields: [String: PropertyList], depth: Int) throws(ModelError) -> Value? {
    guard let keys = fields["NS.keys"]?.array, let values = fields["NS.objects"]?.array, keys.count == values.count
    else { return nil }
    var names: [String] = []
    for key in keys {
      guard case .string(let name) = try value(key, depth: depth + 1) else { return nil }
      if let mistake = TextLimits.mistake(ofName: name) { throw Self.damaged("a dictionary's key has \(mistake)") }
      names.append(name)
    }
    let pairs = zip(names, try self.values(values, depth: depth))
    let result = Dictionary(pairs) { first, _ in first }
    return result.count == names.count ? .map(result) : nil
  }

  /// The URL of a text and an optional base URL.
  private mutating func url(_ fields: [String: PropertyList], depth: Int) throws(ModelError) -> Value? {
    guard let relative = fields["NS.relative"], case .string(let text) = try value(relative, depth: depth + 1) else {
      return nil
    }
    guard let base = fields["NS.base"], case .uri(let base) = try value(base, depth: depth + 1) else {
      return URL(string: text).map(Value.uri)
    }
    return URL(string: text, relativeTo: base).map { .uri($0.absoluteURL) }
  }

  /// The error about a damaged archive.
  private static func damaged(_ reason: String) -> ModelError {
    ModelError(.malformedFile, message: "the keyed archive is damaged: \(reason)")
  }
}
