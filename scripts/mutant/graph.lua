-- Mutants of the graph: recording, reverting, merging and saving of changes. `scripts/mutants` describes an entry.
local graph = "Sources/MoonbaseGraph/"
local below = "Sources/MoonbaseStore/"

return {
  -- The journal and undoing
  {
    file = graph .. "State/Changes/ChangeJournal.swift",
    from = [[{ max(0, savepoint.start - forgottenCount) }]],
    to = [[{
    let start = max(0, savepoint.start - forgottenCount)
    return MUTANT ? min(changes.count, start + 1) : start
  }]],
    says = "the first change after a savepoint is not taken back",
    suites = "ChangeJournalTests|FailedSaveTests|UndoFailureTests|ReferenceTests",
  },
  {
    file = graph .. "Context/ManagedObjectContext+Undo.swift",
    from = [[readings.applyNewerRows()]],
    to = [[if !(MUTANT) { readings.applyNewerRows() }]],
    says = "a newer row that was read since a savepoint is lost when changes are taken back",
    suites = "ChangeJournalTests|FailedSaveTests|UndoAfterRefreshTests|FreshnessTests|ReferenceTests",
  },
  {
    file = graph .. "Context/UndoPart+Journal.swift",
    from = [[orders[Place(object: ObjectIdentifier(object), slot: slot)] = (steps.count, contents)]],
    to = [[let ordered = Place(object: ObjectIdentifier(object), slot: slot)
      if !(MUTANT) || orders[ordered] == nil { orders[ordered] = (steps.count, contents) }]],
    says = "undoing two new orders of a list goes back to the order between them",
    suites = "UndoTests|ToManyTests|MutableSetTests|RandomUndoTests|ReferenceTests",
  },
  {
    file = graph .. "State/Changes/UndoManager.swift",
    from = [[departed[object.objectID] = passage]],
    to = [[if !(MUTANT) { departed[object.objectID] = passage }]],
    says = "an object whose saved deletion is undone is not found by relationships without an inverse again",
    suites = "UndoAfterSaveTests|UndoIDTests|RandomUndoTests",
  },

  -- An object's own rows
  {
    file = below .. "Rows/RowPage+OwnRows.swift",
    from = [[    noteOwn(slot, of: place)
    return .done(bytes: bytes)]],
    to = [[    if !(MUTANT) { noteOwn(slot, of: place) }
    return .done(bytes: bytes)]],
    says = "a value that is written over another one is not marked as the object's own",
    suites = "ChangedRowTests|NewRowTests|TypedObjectTests|RefreshTests|ReferenceTests",
  },
  {
    file = below .. "Rows/RowPage+OwnRows.swift",
    from = [[if length == new.length, memcmp(tail + Int(start), source, length) == 0 { return .same }]],
    to = [[if length == new.length, MUTANT || memcmp(tail + Int(start), source, length) == 0 { return .same }]],
    says = "a text of the same length as the one before is not written",
    suites = "ChangedRowTests|NewRowTests|TypedObjectTests|ReferenceTests",
  },
  {
    file = below .. "Rows/RowPage+Filling.swift",
    from = [[for first in stride(from: 0, to: shape.slotCount, by: 8) {]],
    to = [[for first in stride(from: 0, to: shape.slotCount - (MUTANT ? 1 : 0), by: 8) {]],
    says = "the text in slot 8 of a row with nine slots is left in the page from which the row is copied",
    suites = "RowPageTests|ChangedRowTests|NewRowTests|RowsCopiedInSaveTests",
  },
  {
    file = below .. "Rows/SlotSet.swift",
    from = [[if slot < 64 { low |= 1 << UInt64(slot) } else { high.insert(slot) }]],
    to = [[if slot < (MUTANT ? 65 : 64) { low |= 1 << UInt64(slot) } else { high.insert(slot) }]],
    says = "slot 64 belongs to no set",
    suites = "ChangedRowTests|NewRowTests|SizeTests|ChangedValuesTests",
  },
  {
    file = graph .. "Object/ManagedObject+Row.swift",
    from = [[if entity.properties[slot].isTransient || value != snapshot.values[slot] { stillChanged.insert(slot) }]],
    to = [[let isSetBack = !entity.properties[slot].isTransient && value == snapshot.values[slot]
          if MUTANT || !isSetBack { stillChanged.insert(slot) }]],
    says = "a value that was set back to what it had hides the one of a newer row",
    suites = "RevertedValuesTests|RefreshTests|MergeChangesTests|ReferenceTests",
  },
  {
    file = graph .. "Saving/SavePlan+Rows.swift",
    from = [[StoreChanges.Deletion(id: object.objectID, expectedVersion: object.snapshot?.version)]],
    to = [[StoreChanges.Deletion(
      id: object.objectID, expectedVersion: MUTANT ? nil : object.snapshot?.version)]],
    says = "an object is deleted whatever another context saved of it",
    suites = "MergePolicyTests|SaveTests|SavingTests|RandomContextsTests",
  },
  {
    file = below .. "Interface/StoreChanges+Updates.swift",
    from = [[          lastSlots = slots]],
    to = [[          if !(MUTANT) || runs.count == 1 { lastSlots = slots }]],
    says = "a row that changed as the first row of a save is written as the row before it changed",
    suites = "SaveTests|ChangedRowTests|SavingTests|RandomContextsTests|ReferenceTests",
  },

  -- Relationships
  {
    file = graph .. "Object/ManagedObject+Relationships.swift",
    from = [[if let new { for other in rivals where other !== self { try other.detach(new, slot: slot) } }]],
    to = [[if let new, !(MUTANT) { for other in rivals where other !== self { try other.detach(new, slot: slot) } }]],
    says = "an object that leads to another one by its own side alone keeps it when that one gets another partner",
    suites = "OneSidedTests|OneToOneTests|ReferenceTests",
  },
  {
    file = graph .. "Object/ManagedObject+Relationships.swift",
    from = [[if present.count == ids.count, zip(present, ids).allSatisfy({ $0.objectID == $1 }) { return present }]],
    to = [[let areSame = MUTANT || zip(present, ids).allSatisfy { $0.objectID == $1 }
    if present.count == ids.count, areSame { return present }]],
    says = "the first walk over a list after prefetching does not see that one member came and another one went",
    suites = "PrefetchedListTests|SharedPrefetchTests",
  },
  {
    file = graph .. "State/Objects/ToManyState.swift",
    from = [[if wasRemoved, isLoaded || !isOrdered { removed.remove(id, keepingOrder: false) }]],
    to = [[if wasRemoved, !(MUTANT), isLoaded || !isOrdered { removed.remove(id, keepingOrder: false) }]],
    says = "a member that is removed and added again is removed by the save",
    suites = "ToManyTests|RelationshipTests|SaveTests|ReferenceTests",
  },
  {
    file = graph .. "State/Objects/ToManyState.swift",
    from = [[moved?.insert(members[old])]],
    to = [[if !(MUTANT) { moved?.insert(members[old]) }]],
    says = "a member that moved within a long list is saved in its old place",
    suites = "OrderedSaveTests|SavingTests|PlaceWriterTests|RandomOrderedChildTests",
  },
  {
    file = graph .. "State/Objects/ToManyState.swift",
    from = [[if step.isRemoved { removed.append(step.id) } else { removed.remove(step.id, keepingOrder: false) }]],
    to = [[if step.isRemoved, !(MUTANT) {
      removed.append(step.id)
    } else {
      removed.remove(step.id, keepingOrder: false)
    }]],
    says = "a removed member that came back and is taken back is not removed by the save",
    suites = "RandomUndoTests|ChangeJournalTests|FailedSaveTests|UndoFailureTests|ReferenceTests",
  },
  {
    file = below .. "Interface/MemberList+Order.swift",
    from = [[list.index(of: ids[index - 1]).map { $0 + 1 } ?? list.count : 0]],
    to = [[list.index(of: ids[index - 1]).map { $0 + (MUTANT ? 0 : 1) } ?? list.count : 0]],
    says = "a store in memory puts a moved member before the one that it stands behind",
    suites = "OrderedSaveTests|FolderStoreTests|RandomOrderedChildTests|ReferenceTests",
  },
  {
    file = graph .. "Saving/SavePlan+Links.swift",
    from = [[{ ownsLink ?? (owner.key <= destination.key) }]],
    to = [[{
      let isFirst = MUTANT ? owner.key < destination.key : owner.key <= destination.key
      return ownsLink ?? isFirst
    }]],
    says = "an object that is its own member by a relationship that is its own inverse is not saved so",
    suites = "RelationshipTests|ToManyTests|LoosePairTests|ReferenceTests|RandomOperationTests",
  },

  -- Delete rules, validation, unique values
  {
    file = graph .. "Saving/DeletePropagation.swift",
    from = [[if rule.deletesDestinations, !gone.contains(id), try object.holds(destination, relationship) {]],
    to = [[if rule.deletesDestinations, MUTANT || !gone.contains(id), try object.holds(destination, relationship) {]],
    says = "a member that another context took out of a list is deleted with the owner",
    suites = "StaleMemberTests|DestinationTests|StalenessTests|GoneDestinationTests|LoosePairTests",
  },
  {
    file = graph .. "Saving/ManagedObject+Deletion.swift",
    from = [[return try other.stored(inverse) == .objectID(objectID)
    }
  }

  /// Whether a destination]],
    to = [[return try MUTANT || other.stored(inverse) == .objectID(objectID)
    }
  }

  /// Whether a destination]],
    says = "the rule deny counts members that lead to another object by now",
    suites = "StaleMemberTests|DestinationTests|StalenessTests|RelationshipTests|ReferenceTests",
  },
  {
    file = graph .. "Saving/ObjectValidator.swift",
    from = [[if relationship.maxCount > 0, count > relationship.maxCount {]],
    to = [[if relationship.maxCount > 0, count > relationship.maxCount + (MUTANT ? 1 : 0) {]],
    says = "one destination more than the greatest count is saved",
    suites = "RelationshipCountTests|ObjectValidationTests",
  },
  {
    file = graph .. "Saving/SavePreparation.swift",
    from = [[waiting = try settle(isUnchecked ? objectsToLookAt().objects : touched)]],
    to = [[waiting = try settle(isUnchecked ? objectsToLookAt().objects : MUTANT ? [] : touched)]],
    says = "what hooks of a save changed after the checks is saved without being checked",
    suites = "SaveTests|ObjectValidationTests|UpdateValidationTests|HookPhaseTests|ExtensionTests",
  },
  {
    file = graph .. "Saving/UniqueValueCheck.swift",
    from = [[        holders[key] = object.objectID
        return nil]],
    to = [[        if !(MUTANT) { holders[key] = object.objectID }
        return nil]],
    says = "two changed objects with one unique value are not found before a save",
    suites = "UniquenessTests|ObjectValidationTests",
  },

  -- Conflicts and merging
  {
    file = graph .. "Saving/ConflictResolver.swift",
    from = [[where object.changed.contains(slot) && differs(object.snapshot, row, slot) {]],
    to = [[where object.changed.contains(slot) && (MUTANT || differs(object.snapshot, row, slot)) {]],
    says = "where the store trumps, changes of properties that nobody else changed are given up too",
    suites = "MergePolicyTests|RandomContextsTests|ReferenceTests",
  },
  {
    file = graph .. "Saving/ConflictResolver+UniqueValues.swift",
    from = [[for slot in slots(of: new) where isWhole || new.changed.contains(slot) {]],
    to = [[for slot in slots(of: new) where isWhole || MUTANT || new.changed.contains(slot) {]],
    says = "a saved object loses what a new one in its place was not given",
    suites = "MergePolicyTests|GivingWayTests|UniquenessTests",
  },
  {
    file = graph .. "State/Objects/ManagedObject+Methods.swift",
    from = [[!mine.isSame(as: stored), !mine.isSame(as: original) else]],
    to = [[!mine.isSame(as: stored), MUTANT || !mine.isSame(as: original) else]],
    says = "a value that was set back to what it had collides with what another context saved",
    suites = "MergePolicyTests|RevertedValuesTests",
  },
  {
    file = graph .. "Context/ManagedObject+Contexts.swift",
    from = [[isMarked(slot) && base.values[slot] != row.values[slot] && current]],
    to = [[isMarked(slot) && (MUTANT || base.values[slot] != row.values[slot]) && current]],
    says = "a change hides what another context saved of other properties",
    suites = "FreshnessTests|MergeChangesTests|BackgroundContextConcurrencyTests|RandomContextsTests",
  },
  {
    file = graph .. "Context/ManagedObjectContext+Changes.swift",
    from = [[for (slot, list) in lists {]],
    to = [[for (slot, list) in lists where !(MUTANT) {]],
    says = "members that other objects brought to a list are lost when its owner is refreshed",
    suites = "RefreshTests|ToManyTests|UndoAfterRefreshTests|ReferenceTests",
  },
  {
    file = graph .. "State/Observation/NotificationInbox.swift",
    from = [[let all = Element(all: elements)]],
    to = [[let all = MUTANT ? new : Element(all: elements)]],
    says = "of more than 64 saves that wait to be merged all but the last are forgotten",
    suites = "MergeChangesTests|FreshnessTests|ContextSequenceTests|RandomContextsTests",
  },
  {
    file = graph .. "State/Contexts/RowCache.swift",
    from = [[        cache.old[id] = nil
]],
    to = [[        if !(MUTANT) { cache.old[id] = nil }
]],
    says = "a row that was not used for long stays in the row cache when it is taken out",
    suites = "RowCacheTests|RefreshTests|FreshnessTests",
  },

  -- Child contexts
  {
    file = graph .. "Context/ParentSaveSession.swift",
    from = [[to: old < before ? before : before + 1, slot: slot)]],
    to = [[to: old < before || MUTANT ? before : before + 1, slot: slot)]],
    says = "a member that a child moved to the front stands before the one that it stood behind",
    suites = "RandomOrderedChildTests|ParentListTests|ParentContextTests",
  },
  {
    file = graph .. "Context/ParentRows.swift",
    from = [[max(known.version, base?.version ?? 0) + 1)]],
    to = [[max(known.version, base?.version ?? 0) + (MUTANT ? 0 : 1))]],
    says = "other unsaved values of a parent have the version that its children know",
    suites = "ParentRowsTests|ParentContextTests|RandomParentTests",
  },

  -- Derived values and observers
  {
    file = graph .. "State/Derivation/Derivations.swift",
    from = [[if isRecording, done.isOpen || done.isOutdated {]],
    to = [[if isRecording, !(MUTANT), done.isOpen || done.isOutdated {]],
    says = "a value that is derived from one that anything may change is kept",
    suites = "DerivationTests|RandomDerivationTests",
  },
  {
    file = graph .. "State/Derivation/Derivations.swift",
    from = [[if let source = sources.removeValue(forKey: object.objectID) { sources[id] = source }]],
    to = [[if let source = sources.removeValue(forKey: object.objectID), !(MUTANT) { sources[id] = source }]],
    says = "values that were derived from a new object do not follow it after its first save",
    suites = "DerivationTests|RandomDerivationTests|StoredDerivationTests",
  },
  {
    file = graph .. "State/Observation/ChangeEvent.swift",
    from = [[guard updated[object]?.values[own.slot] == nil else { return }]],
    to = [[guard MUTANT || updated[object]?.values[own.slot] == nil else { return }]],
    says = "an observer is told the value before the last change and not that before the first",
    suites = "ChangeObservationTests|ChangedValuesTests|RandomObserverTests",
  },
  {
    file = graph .. "State/Observation/ObserverState.swift",
    from = [[if inserted.removeValue(forKey: id) == nil { removed[id] = .some(new) }]],
    to = [[if inserted.removeValue(forKey: id) == nil || MUTANT { removed[id] = .some(new) }]],
    says = "an observer is told that a member went of which it was never told that it came",
    suites = "ObservationTests|RandomObserverTests",
  },

  -- Fetching
  {
    file = graph .. "Fetching/FetchPlan.swift",
    from = [[if query.limit == 0 || rows.count < query.limit || kept.count >= wanted { return kept }]],
    to = [[let isEnough = kept.count >= wanted - (MUTANT ? 1 : 0)
      if query.limit == 0 || rows.count < query.limit || isEnough { return kept }]],
    says = "a fetch with a limit finds one object too few behind many changed ones",
    suites = "FetchTests|WindowTests|PendingQueryTests|AgreementTests",
  },
  {
    file = graph .. "State/Changes/PendingIndex.swift",
    from = [=[if let new { table.members[new]?.insert(object) ?? (table.members[new] = .one(object)) }]=],
    to = [=[if let new, !MUTANT || old == nil { table.members[new]?.insert(object) ]=]
      .. [=[?? (table.members[new] = .one(object)) }]=],
    says = "a changed object is not found by a value that it was given after the first look for it",
    suites = "PendingIndexTests|PendingQueryTests|FetchTests",
  },
  {
    file = "Sources/MoonbaseFetchedResults/ResultList.swift",
    from = [[guard !taking.join(arrival.name, at: arrival.place - before) else { continue }]],
    to = [[guard !taking.join(arrival.name, at: arrival.place - (MUTANT ? 0 : before)) else { continue }]],
    says = "of objects that come to a list together the later ones join a section by a place behind theirs",
    suites = "ResultListTests|FetchedResultsControllerTests|RandomFetchedResultsTests",
  },
}
