import MoonbaseModel

/// The validation of entities for which every check has a fast form: required values, and one rule for a value.
///
/// An object that does not pass is validated in the ordinary way, which reports the failures.
struct QuickChecks {
  var rules: ContiguousArray<(slot: Slot, rule: EntityExtension.QuickRule)> = []
  /// The plain slots that must have a value.
  var requiredSlots: ContiguousArray<Slot> = []

  /// Whether an object passes all checks; false also means that only the ordinary validation can tell.
  func pass(_ object: ManagedObject) throws -> Bool {
    guard !object.isDeleted else { return false }
    for slot in requiredSlots where try !object.hasStoredValue(slot) { return false }
    for check in rules where try !object.fulfills(check.rule, slot: check.slot) { return false }
    return true
  }
}
