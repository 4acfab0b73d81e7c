import MoonbaseModel
import MoonbasePlatform

/// Builds a keyed archive as `NSKeyedArchiver` would write it.
struct KeyedArchiveWriter {
  private var objects: [PropertyList] = ["$null"]
  private var scalars: [PropertyList: PropertyList] = [:]
  private var classes: [String: PropertyList] = [:]

  /// The reference that stands for no object.
  static let null = PropertyList.uid(0)

  /// The property list of the archive.
  func archive(root: PropertyList) -> PropertyList {
    ["$version": 100_000, "$archiver": "NSKeyedArchiver", "$top": ["root": root], "$objects": .array(objects)]
  }

  /// A place for an object that others refer to before it is written.
  mutating func reserve() -> PropertyList {
    objects.append("$null")
    return .uid(UInt32(objects.count - 1))
  }

  /// Writes an object to a reserved place.
  mutating func fill(_ reference: PropertyList, className: String, fields: [String: PropertyList]) {
    guard case .uid(let index) = reference else { return }
    objects[Int(index)] = .dictionary(fields.merging(["$class": classReference(className)]) { field, _ in field })
  }

  mutating func object(_ className: String, fields: [String: PropertyList]) -> PropertyList {
    let reference = reserve()
    fill(reference, className: className, fields: fields)
    return reference
  }

  /// A string, number or data; equal ones are written once.
  mutating func scalar(_ value: PropertyList) -> PropertyList {
    if let known = scalars[value] { return known }
    objects.append(value)
    let reference = PropertyList.uid(UInt32(objects.count - 1))
    scalars[value] = reference
    return reference
  }

  mutating func string(_ value: String?) -> PropertyList { value.map { scalar(.string($0)) } ?? Self.null }

  mutating func array(_ elements: [PropertyList], className: String = "NSArray") -> PropertyList {
    object(className, fields: ["NS.objects": .array(elements)])
  }

  mutating func dictionary(_ pairs: [(key: String, value: PropertyList)], className: String = "NSDictionary")
    -> PropertyList
  {
    let keys = pairs.map { string($0.key) }
    return object(className, fields: ["NS.keys": .array(keys), "NS.objects": .array(pairs.map(\.value))])
  }

  /// The dictionary that Core Data uses for entities, whose keys are fixed.
  mutating func knownKeysDictionary(_ pairs: [(key: String, value: PropertyList)]) -> PropertyList {
    let keys = array(pairs.map { string($0.key) })
    let mapping = object(
      "NSKnownKeysMappingStrategy1", fields: ["length": .integer(Int64(pairs.count)), "keys": keys, "version": 1])
    let token = string("__empty_slot_token_4c24_98dc_ac1e_b773__")
    return object(
      "NSKnownKeysDictionary1",
      fields: ["values": array(pairs.map(\.value)), "searchMapping": mapping, "emptyToken": token, "version": 1])
  }

  private mutating func classReference(_ name: String) -> PropertyList {
    if let known = classes[name] { return known }
    let ancestors = Self.ancestors[name] ?? []
    let names = ([name] + ancestors + ["NSObject"]).map(PropertyList.string)
    objects.append(["$classname": .string(name), "$classes": .array(names)])
    let reference = PropertyList.uid(UInt32(objects.count - 1))
    classes[name] = reference
    return reference
  }

  /// The classes between a class and NSObject, nearest first.
  private static let ancestors: [String: [String]] = [
    "NSMutableArray": ["NSArray"], "NSMutableDictionary": ["NSDictionary"], "NSDecimalNumber": ["NSNumber", "NSValue"],
    "NSKnownKeysMappingStrategy1": ["NSKnownKeysMappingStrategy"],
    "NSKnownKeysDictionary1": ["NSKnownKeysDictionary", "NSMutableDictionary", "NSDictionary"],
    "NSAttributeDescription": ["NSPropertyDescription"], "NSRelationshipDescription": ["NSPropertyDescription"],
    "NSDerivedAttributeDescription": ["NSAttributeDescription", "NSPropertyDescription"],
    "NSCompositeAttributeDescription": ["NSAttributeDescription", "NSPropertyDescription"],
    "NSFetchedPropertyDescription": ["NSPropertyDescription"], "NSFetchRequest": ["NSPersistentStoreRequest"],
    "NSComparisonPredicate": ["NSPredicate"], "NSCompoundPredicate": ["NSPredicate"],
    "NSTruePredicate": ["NSPredicate"], "NSFalsePredicate": ["NSPredicate"],
    "NSEqualityPredicateOperator": ["NSPredicateOperator"], "NSComparisonPredicateOperator": ["NSPredicateOperator"],
    "NSInPredicateOperator": ["NSPredicateOperator"], "NSBetweenPredicateOperator": ["NSPredicateOperator"],
    "NSSubstringPredicateOperator": ["NSStringPredicateOperator", "NSPredicateOperator"],
    "NSLikePredicateOperator": ["NSStringPredicateOperator", "NSPredicateOperator"],
    "NSMatchingPredicateOperator": ["NSStringPredicateOperator", "NSPredicateOperator"],
    "NSSelfExpression": ["NSExpression"], "NSConstantValueExpression": ["NSExpression"],
    "NSVariableExpression": ["NSExpression"], "NSKeyPathSpecifierExpression": ["NSExpression"],
    "NSFunctionExpression": ["NSExpression"], "NSKeyPathExpression": ["NSFunctionExpression", "NSExpression"],
    "NSAggregateExpression": ["NSExpression"], "NSSubqueryExpression": ["NSExpression"],
    "NSTernaryExpression": ["NSExpression"], "NSAnyKeyExpression": ["NSExpression"],
    "NSVariableAssignmentExpression": ["NSExpression"],
  ]
}
