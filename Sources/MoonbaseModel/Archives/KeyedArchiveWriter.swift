import MoonbasePlatform

/// Builds a keyed archive as `NSKeyedArchiver` would write it.
///
/// The order of calls is free: `object` and its relatives add objects and return references, and
/// `archive(root:)` gives the result. References that must exist first are reserved and filled
/// later. A writer makes one archive.
package struct KeyedArchiveWriter {
  /// The superclasses of each class below NSObject, nearest first.
  private let ancestors: [String: [String]]
  /// The contents of `$objects`; the first means nil.
  private var objects: [PropertyList] = ["$null"]
  /// The references of scalars, which are shared.
  private var scalars: [PropertyList: PropertyList] = [:]
  /// The references of texts, compared by code points. Swift's string equality treats canonically equivalent texts as
  /// equal and may be slow.
  private var texts: [ExactText: PropertyList] = [:]
  /// The references of classes.
  private var classes: [String: PropertyList] = [:]
  /// The reference of the shared `NSNull` object.
  private var knownNull: PropertyList?

  /// The reference that means nil.
  package static let null = PropertyList.uid(0)

  /// An empty archive. `ancestors` lists superclasses below NSObject, nearest first, for classes other than those of
  /// values.
  package init(ancestors: [String: [String]] = [:]) {
    self.ancestors = ancestors.merging(Self.ancestorsOfValues) { given, _ in given }
  }

  /// The superclasses of the classes of values.
  private static let ancestorsOfValues = [
    "NSMutableArray": ["NSArray"], "NSMutableDictionary": ["NSDictionary"], "NSDecimalNumber": ["NSNumber", "NSValue"],
  ]

  /// The property list of the archive.
  package func archive(root: PropertyList) -> PropertyList {
    ["$version": 100_000, "$archiver": "NSKeyedArchiver", "$top": ["root": root], "$objects": .array(objects)]
  }

  /// Reserves a reference, so that other objects can refer to an object before it is written.
  package mutating func reserve() -> PropertyList {
    objects.append("$null")
    return .uid(UInt32(objects.count - 1))
  }

  /// Writes an object to a reserved reference.
  package mutating func fill(_ reference: PropertyList, className: String, fields: [String: PropertyList]) {
    guard case .uid(let index) = reference else { return }
    objects[Int(index)] = .dictionary(fields.merging(["$class": classReference(className)]) { field, _ in field })
  }

  /// Writes an object and returns its reference.
  package mutating func object(_ className: String, fields: [String: PropertyList]) -> PropertyList {
    let reference = reserve()
    fill(reference, className: className, fields: fields)
    return reference
  }

  /// Adds a string, number or data. Equal scalars share one reference.
  package mutating func scalar(_ value: PropertyList) -> PropertyList {
    if case .string(let text) = value { return string(text) }
    // 0.0 and -0.0 are equal but differ in their bits, and NaN does not equal itself, so neither is shared.
    if case .real(let number) = value, number == 0 || number.isNaN { return append(value) }
    if let known = scalars[value] { return known }
    let reference = append(value)
    scalars[value] = reference
    return reference
  }

  /// Adds a text. Texts of the same code points share one reference.
  package mutating func string(_ value: String?) -> PropertyList {
    guard let value else { return Self.null }
    let key = ExactText(value)
    if let known = texts[key] { return known }
    // A bare "$null" would be read as nil, so this text is wrapped in an object.
    let reference =
      value == "$null" ? object("NSString", fields: ["NS.string": .string(value)]) : append(.string(value))
    texts[key] = reference
    return reference
  }

  /// The `NSNull` object that represents null in a collection.
  mutating func nullObject() -> PropertyList {
    if let knownNull { return knownNull }
    let reference = object("NSNull", fields: [:])
    knownNull = reference
    return reference
  }

  /// Adds an object, and returns its reference.
  private mutating func append(_ object: PropertyList) -> PropertyList {
    objects.append(object)
    return .uid(UInt32(objects.count - 1))
  }

  /// An array of references.
  package mutating func array(_ elements: [PropertyList], className: String = "NSArray") -> PropertyList {
    object(className, fields: ["NS.objects": .array(elements)])
  }

  /// A dictionary of references with string keys.
  package mutating func dictionary(_ pairs: [(key: String, value: PropertyList)], className: String = "NSDictionary")
    -> PropertyList
  {
    let keys = pairs.map { string($0.key) }
    return object(className, fields: ["NS.keys": .array(keys), "NS.objects": .array(pairs.map(\.value))])
  }

  /// The reference of a class, with its superclasses.
  private mutating func classReference(_ name: String) -> PropertyList {
    if let known = classes[name] { return known }
    let names = ([name] + (ancestors[name] ?? []) + ["NSObject"]).map(PropertyList.string)
    let reference = append(["$classname": .string(name), "$classes": .array(names)])
    classes[name] = reference
    return reference
  }
}
