import MoonbaseModel

/// The objects of a keyed archive. Nothing is instantiated: a class is only a name.
///
/// The archive is a property list with an array `$objects` in which objects refer to each other by
/// index (`UID`). Values of this type share their objects, so a copy costs nothing. The budget is
/// shared by all copies and confined to one thread.
struct KeyedArchive {
  /// The most objects of an archive.
  private static let greatestCount = 500_000

  /// The remaining number of references that may be followed. Objects may be shared, so a small archive could cause
  /// endless work.
  private final class Budget {
    /// The remaining references; negative if too many were followed.
    var left: Int
    /// A budget of references.
    init(_ left: Int) { self.left = left }
  }

  /// The contents of `$objects`.
  private let objects: [PropertyList]
  /// The budget, shared by all objects of the archive.
  private let budget: Budget
  /// The contents of `$top`, with the root.
  private let top: [String: PropertyList]

  /// Throws `.malformedFile` for a property list of another kind, and for too many objects.
  init(_ plist: PropertyList) throws(ModelError) {
    guard plist["$archiver"]?.string == "NSKeyedArchiver", let objects = plist["$objects"]?.array,
      let top = plist["$top"]?.dictionary
    else { throw ModelError(.malformedFile, message: "the property list is no keyed archive") }
    guard objects.count <= Self.greatestCount else {
      throw ModelError(.malformedFile, message: "the archive has more than \(Self.greatestCount) objects")
    }
    self.objects = objects
    self.top = top
    budget = Budget(1_000_000 + 20 * objects.count)
  }

  /// Throws if more references were followed than any valid archive needs, because the result is incomplete then.
  func checkBudget() throws(ModelError) {
    if budget.left < 0 { throw ModelError(.malformedFile, message: "the archive refers to its objects too often") }
  }

  /// The object that was archived.
  func root() throws(ModelError) -> ArchivedObject {
    guard case .object(let root)? = value(top["root"]) else {
      throw ModelError(.malformedFile, message: "the archive has no root object")
    }
    return root
  }

  /// The target of a reference; nil for `$null`, for a missing value and for an index outside of the archive.
  ///
  /// Each call is charged to the budget. A dictionary with a class is an object; everything else is
  /// a scalar.
  func value(_ plist: PropertyList?) -> ArchivedValue? {
    budget.left -= 1
    guard budget.left >= 0 else { return nil }
    guard case .uid(let uid)? = plist else { return plist.map(ArchivedValue.scalar) }
    let index = Int(uid)
    guard index > 0, index < objects.count else { return nil }
    guard let fields = objects[index].dictionary, let name = className(fields["$class"]) else {
      return objects[index].string == "$null" ? nil : .scalar(objects[index])
    }
    return .object(ArchivedObject(archive: self, index: index, className: name, fields: fields))
  }

  /// The name of a class from its entry in `$objects`; nil if it is none.
  private func className(_ plist: PropertyList?) -> String? {
    guard case .uid(let uid)? = plist, Int(uid) < objects.count else { return nil }
    return objects[Int(uid)]["$classname"]?.string
  }
}

/// A value in a keyed archive.
enum ArchivedValue {
  /// A string, number, date or data.
  case scalar(PropertyList)
  /// An object of a class.
  case object(ArchivedObject)

  /// The object; nil for a scalar.
  var object: ArchivedObject? {
    if case .object(let object) = self { object } else { nil }
  }

  /// The string, plain or as an object.
  var string: String? {
    switch self {
    case .scalar(let plist): plist.string
    case .object(let object):
      object.className == "NSString" || object.className == "NSMutableString" ? object.fields["NS.string"]?.string : nil
    }
  }

  /// The integer; nil for other values.
  var integer: Int64? {
    if case .scalar(let plist) = self { plist.integer } else { nil }
  }

  /// The boolean; nil for other values.
  var bool: Bool? {
    if case .scalar(let plist) = self { plist.bool } else { nil }
  }
}

/// An object of a keyed archive.
///
/// An object is a view: its class name and its fields, with the archive to resolve references.
/// Reading a key follows one reference.
struct ArchivedObject {
  /// The archive that resolves references.
  let archive: KeyedArchive
  /// The index in the archive, which identifies the object.
  let index: Int
  /// The name of the class.
  let className: String
  /// The fields as stored, with unresolved references.
  let fields: [String: PropertyList]

  /// The value of a key; nil if it is missing or null.
  subscript(key: String) -> ArchivedValue? { archive.value(fields[key]) }

  /// The string of a key; nil for other values.
  func string(_ key: String) -> String? { self[key]?.string }

  /// The boolean of a key; false if it is missing.
  func bool(_ key: String) -> Bool { self[key]?.bool ?? false }

  /// The integer of a key; nil for other values.
  func integer(_ key: String) -> Int? { self[key]?.integer.map { Int($0) } }

  /// The elements of the array or set of a key; nil if there is none.
  func elements(_ key: String) -> [ArchivedValue]? { self[key]?.object?.elements }

  /// The pairs of the dictionary of a key; nil if there is none.
  func pairs(_ key: String) -> [(key: String, value: ArchivedValue)]? { self[key]?.object?.pairs }

  /// The elements of an array or set; nil for other classes.
  var elements: [ArchivedValue]? {
    switch className {
    case "NSArray", "NSMutableArray", "NSSet", "NSMutableSet", "NSOrderedSet", "NSMutableOrderedSet":
      values("NS.objects")
    default: nil
    }
  }

  /// The pairs with string keys, sorted by key, of the kinds of dictionaries in models; nil for other classes.
  var pairs: [(key: String, value: ArchivedValue)]? {
    switch className {
    case "NSDictionary", "NSMutableDictionary": zipped(values("NS.keys"), values: values("NS.objects"))
    case "NSKnownKeysDictionary1":
      zipped(self["searchMapping"]?.object?.elements("keys"), values: elements("values"))
    default: nil
    }
  }

  /// The resolved elements of an array in a field. Null elements are omitted.
  private func values(_ key: String) -> [ArchivedValue]? {
    fields[key]?.array?.compactMap { archive.value($0) }
  }

  /// Pairs keys with values. Returns nil if the arrays differ in length; keys that are no strings
  /// are omitted.
  private func zipped(_ keys: [ArchivedValue]?, values: [ArchivedValue]?) -> [(key: String, value: ArchivedValue)]? {
    guard let keys, let values, keys.count == values.count else { return nil }
    return zip(keys, values).compactMap { key, value in key.string.map { ($0, value) } }.sorted { $0.key < $1.key }
  }
}
