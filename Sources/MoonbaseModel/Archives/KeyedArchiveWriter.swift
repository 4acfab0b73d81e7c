import MoonbasePlatform

/// Builds a keyed archive as `NSKeyedArchiver` would write it.
package struct KeyedArchiveWriter {
  /// The classes between a class and NSObject, nearest first.
  private let ancestors: [String: [String]]
  private var objects: [PropertyList] = ["$null"]
  private var scalars: [PropertyList: PropertyList] = [:]
  /// Texts by their code points: to Swift two forms of one letter are equal, and comparing them may take long.
  private var texts: [ExactText: PropertyList] = [:]
  private var classes: [String: PropertyList] = [:]
  private var knownNull: PropertyList?

  /// The reference that stands for no object.
  package static let null = PropertyList.uid(0)

  /// An empty archive; `ancestors` has the classes between a class and NSObject, nearest first, beside those of values.
  package init(ancestors: [String: [String]] = [:]) {
    self.ancestors = ancestors.merging(Self.ancestorsOfValues) { given, _ in given }
  }

  private static let ancestorsOfValues = [
    "NSMutableArray": ["NSArray"], "NSMutableDictionary": ["NSDictionary"], "NSDecimalNumber": ["NSNumber", "NSValue"],
  ]

  /// The property list of the archive.
  package func archive(root: PropertyList) -> PropertyList {
    ["$version": 100_000, "$archiver": "NSKeyedArchiver", "$top": ["root": root], "$objects": .array(objects)]
  }

  /// A place for an object that others refer to before it is written.
  package mutating func reserve() -> PropertyList {
    objects.append("$null")
    return .uid(UInt32(objects.count - 1))
  }

  /// Writes an object to a reserved place.
  package mutating func fill(_ reference: PropertyList, className: String, fields: [String: PropertyList]) {
    guard case .uid(let index) = reference else { return }
    objects[Int(index)] = .dictionary(fields.merging(["$class": classReference(className)]) { field, _ in field })
  }

  /// Writes an object.
  package mutating func object(_ className: String, fields: [String: PropertyList]) -> PropertyList {
    let reference = reserve()
    fill(reference, className: className, fields: fields)
    return reference
  }

  /// A string, number or data; equal ones are written once.
  package mutating func scalar(_ value: PropertyList) -> PropertyList {
    if case .string(let text) = value { return string(text) }
    // Two zeros are equal and differ in their sign, and what is no number equals nothing.
    if case .real(let number) = value, number == 0 || number.isNaN { return append(value) }
    if let known = scalars[value] { return known }
    let reference = append(value)
    scalars[value] = reference
    return reference
  }

  /// A text; one of the same code points is written once.
  package mutating func string(_ value: String?) -> PropertyList {
    guard let value else { return Self.null }
    let key = ExactText(value)
    if let known = texts[key] { return known }
    // By itself this text stands for nothing.
    let reference =
      value == "$null" ? object("NSString", fields: ["NS.string": .string(value)]) : append(.string(value))
    texts[key] = reference
    return reference
  }

  /// The object that stands for nothing in a collection.
  mutating func nullObject() -> PropertyList {
    if let knownNull { return knownNull }
    let reference = object("NSNull", fields: [:])
    knownNull = reference
    return reference
  }

  private mutating func append(_ object: PropertyList) -> PropertyList {
    objects.append(object)
    return .uid(UInt32(objects.count - 1))
  }

  /// An array of references.
  package mutating func array(_ elements: [PropertyList], className: String = "NSArray") -> PropertyList {
    object(className, fields: ["NS.objects": .array(elements)])
  }

  /// A dictionary of references by text.
  package mutating func dictionary(_ pairs: [(key: String, value: PropertyList)], className: String = "NSDictionary")
    -> PropertyList
  {
    let keys = pairs.map { string($0.key) }
    return object(className, fields: ["NS.keys": .array(keys), "NS.objects": .array(pairs.map(\.value))])
  }

  private mutating func classReference(_ name: String) -> PropertyList {
    if let known = classes[name] { return known }
    let names = ([name] + (ancestors[name] ?? []) + ["NSObject"]).map(PropertyList.string)
    let reference = append(["$classname": .string(name), "$classes": .array(names)])
    classes[name] = reference
    return reference
  }
}
