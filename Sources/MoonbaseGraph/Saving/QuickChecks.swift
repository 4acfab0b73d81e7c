import MoonbaseModel

/// The checks of an entity's objects where each check has a quick form: values that must be there, and one rule of a
/// value.
///
/// An object that does not pass is validated as any other, which tells what is wrong with it.
struct QuickChecks {
  var rules: ContiguousArray<(slot: Slot, rule: EntityExtension.QuickRule)> = []
  /// The simple slots that must have a value.
  var requiredSlots: ContiguousArray<Slot> = []

  func pass(_ object: ManagedObject) throws -> Bool {
    guard !object.isDeleted else { return false }
    for slot in requiredSlots where try !object.hasStoredValue(slot) { return false }
    for check in rules where try !object.fulfills(check.rule, slot: check.slot) { return false }
    return true
  }
}

extension ManagedObject {
  /// Whether a rule says in its quick form that nothing is wrong with a value.
  final func fulfills(_ rule: EntityExtension.QuickRule, slot: Slot) throws -> Bool {
    guard let context else { return false }
    let cell = try rawCell(at: slot)
    if cell.kind == .other || cell.kind == .null { return false }
    return context.isFulfilled(rule, cell, of: self)
  }
}
