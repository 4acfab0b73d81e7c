import MoonbaseModel

/// Slot lists that are computed from the collected extensions.
extension EntityBehaviorBuilder {
  /// Whether the class or an extension has a hook of one kind.
  func has<Hook>(_ method: LifecycleHooks, _ hook: (EntityExtension) -> Hook?) -> Bool {
    hooks.contains(method) || extensions.contains { hook($0) != nil }
  }

  /// Derived attributes that read, by their declared inputs, only their own object's values.
  ///
  /// An input that is derived must qualify as well, so slots are removed until all that remain qualify.
  var selfContainedSlots: SlotSet {
    var inputs: [Slot: [Slot?]] = [:]
    for (slot, kind) in kinds.enumerated() {
      guard case .derived(let derived) = kind, let names = derived.ownInputs else { continue }
      inputs[slot] = names.map(entity.slot)
    }
    func isOwn(_ slot: Slot?) -> Bool {
      guard let slot, accessors[slot] == nil else { return false }
      if case .derived = kinds[slot] { return inputs[slot] != nil }
      return true
    }
    while let slot = inputs.first(where: { !$0.value.allSatisfy(isOwn) })?.key { inputs[slot] = nil }
    return SlotSet(inputs.keys)
  }

  var simpleSlots: SlotSet {
    SlotSet(
      entity.attributeSlots.filter { slot in
        guard case .plain = kinds[slot], let attribute = entity.properties[slot].attribute else { return false }
        return accessors[slot] == nil && valueClasses[slot] == nil && delayedShadows[slot] == nil
          && attribute.derivationExpression == nil && !attribute.allowsExternalBinaryDataStorage
      })
  }

  var derivedSlots: SlotSet {
    SlotSet(
      attributeSlots.filter { slot in
        guard case .derived = kinds[slot] else { return false }
        return accessors[slot] == nil
      })
  }

  /// Slots of all attributes, those that extensions add included.
  private var attributeSlots: [Slot] { entity.attributeSlots + entity.addedProperties.map(\.slot) }

  var slotsToValidate: [Slot] {
    guard hasRules else { return [] }
    return (attributeSlots + entity.toOneSlots).filter {
      !entity.property(at: $0).isOptional || looksAtValue(slot: $0)
    }
  }

  var requiredSlots: SlotSet {
    SlotSet(
      (entity.attributeSlots + entity.toOneSlots).filter { slot in
        guard !entity.properties[slot].isOptional, !looksAtValue(slot: slot), accessors[slot] == nil else {
          return false
        }
        if case .derived = kinds[slot] { return false }
        return true
      })
  }

  /// Whether a rule or a normalizer needs the value in a slot.
  private func looksAtValue(slot: Slot) -> Bool {
    hooks.contains(.validateValue) || entity.property(at: slot).hasValueRules
      || rules[slot] != nil || normalizers[slot] != nil
  }

  /// The quick form of each simple slot's rule, where this rule is the slot's only check.
  var onlyRules: ContiguousArray<EntityExtension.QuickRule?> {
    guard !hooks.contains(.validateValue) else { return [] }
    return ContiguousArray(
      kinds.indices.map { slot in
        guard simpleSlots.contains(slot), rules[slot]?.count == 1, let quick = quickRules[slot], quick.count == 1,
          normalizers[slot] == nil, !entity.property(at: slot).hasValueRules
        else { return nil }
        return quick[0]
      })
  }

  /// All checks of validation in quick form; nil unless every check has a quick form.
  var quickChecks: QuickChecks? {
    guard derivedSlotsToValidate.isEmpty, slotsToCount.isEmpty, ruledToManySlots.isEmpty,
      !has(.validateForInsert, \.validateForInsert), !has(.validateForUpdate, \.validateForUpdate)
    else { return nil }
    let (only, required) = (onlyRules, requiredSlots)
    var checks = QuickChecks()
    for slot in slotsToValidate {
      guard !entity.property(at: slot).isTransient else { return nil }
      if slot < only.count, let rule = only[slot] {
        checks.rules.append((slot, rule))
      } else if required.contains(slot), simpleSlots.contains(slot) {
        checks.requiredSlots.append(slot)
      } else {
        return nil
      }
    }
    return checks
  }

  var derivedSlotsToValidate: [Slot] {
    guard hasRules else { return [] }
    return attributeSlots.filter { slot in
      guard case .derived = kinds[slot] else { return false }
      let property = entity.property(at: slot)
      return !property.isOptional || property.hasValueRules || rules[slot] != nil
    }
  }

  var slotsToCount: [Slot] {
    guard hasRules else { return [] }
    return entity.toManySlots.filter { slot in
      guard let relationship = entity.properties[slot].relationship?.description else { return false }
      return relationship.minCount > 0 || relationship.maxCount > 0
    }
  }

  /// To-many relationships for which an extension has rules.
  var ruledToManySlots: [Slot] { hasRules ? entity.toManySlots.filter { rules[$0] != nil } : [] }

  var denyingSlots: [Slot] {
    (entity.toOneSlots + entity.toManySlots).filter {
      entity.properties[$0].relationship?.description.deleteRule.refusesDeletion == true
    }
  }
}
