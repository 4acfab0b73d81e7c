/// Names of parameterless methods of Core Data's objects, which Core Data refuses as property names (managed object model
/// guide and class documentation).
enum RefusedPropertyNames {
  static let names: Set<String> = Set(
    """
    attributeKeys autorelease awakeFromFetch awakeFromInsert changedValues changedValuesForCurrentEvent class \
    classDescription className classForCoder classForKeyedArchiver classForArchiver copy dealloc debugDescription deleted \
    description didSave didTurnIntoFault entity fault faultingState finalize hasChanges hasFault hasPersistentChangedValues \
    hash init inserted isDeleted isFault isInserted isProxy isUpdated managedObjectContext mutableCopy objectID \
    observationInfo prepareForDeletion release retain retainCount scriptingProperties self superclass toManyRelationshipKeys \
    toOneRelationshipKeys updated willSave willTurnIntoFault zone
    """.split(separator: " ").map(String.init))
}
