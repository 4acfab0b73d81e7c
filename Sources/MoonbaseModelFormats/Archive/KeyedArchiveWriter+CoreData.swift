import MoonbaseModel

extension KeyedArchiveWriter {
  /// A writer for models of Core Data.
  ///
  /// The writer knows the superclasses of Core Data's classes, which an archive lists for each
  /// class.
  init(ofModel: Void) { self.init(ancestors: Self.ancestors) }

  /// A dictionary with fixed keys, which Core Data uses for entities.
  ///
  /// Core Data's `NSKnownKeysDictionary1`: an array of values, and a mapping strategy with the keys
  /// in the same order.
  mutating func knownKeysDictionary(_ pairs: [(key: String, value: PropertyList)]) -> PropertyList {
    let keys = array(pairs.map { string($0.key) })
    let mapping = object(
      "NSKnownKeysMappingStrategy1", fields: ["length": .integer(Int64(pairs.count)), "keys": keys, "version": 1])
    let token = string("__empty_slot_token_4c24_98dc_ac1e_b773__")
    return object(
      "NSKnownKeysDictionary1",
      fields: ["values": array(pairs.map(\.value)), "searchMapping": mapping, "emptyToken": token, "version": 1])
  }

  /// A user info dictionary. Throws for values that only this process can resolve.
  ///
  /// `owner` is the name in the error `.unsupportedForm`.
  mutating func userInfo(_ values: [String: Value], of owner: String) throws(ModelError) -> PropertyList {
    guard let reference = value(.map(values)) else {
      throw ModelError(.unsupportedForm, message: "\(owner): its user info holds a value that cannot be archived")
    }
    return reference
  }

  /// The superclasses of each class, without `NSObject`, the nearest first.
  private static let ancestors: [String: [String]] = [
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
