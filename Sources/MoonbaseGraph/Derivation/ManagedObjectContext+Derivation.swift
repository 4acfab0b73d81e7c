package import MoonbaseModel
import MoonbasePlatform

/// Invalidation of derived values after a change of one of their inputs.
extension ManagedObjectContext {
  /// Reports that a facet of an object changed, and drops the values that were computed from it.
  ///
  /// After an unsaved change, the next save computes the stored values among them.
  func outdate(
    _ object: ManagedObject, _ facet: Facet, because cause: Derivations.Cause, member: ManagedObjectID? = nil
  ) {
    guard derivations.isWatching || object.isObserved else {
      // Only values of the object itself can depend on the facet.
      HostWork.note()
      object.forgetOwnComputed(from: facet, because: cause)
      return object.forgetOwnComputed(from: .state, because: cause)
    }
    outdate([ObjectFacet(id: object.objectID, facet: facet)], of: object, because: cause, member: member)
  }

  /// Reports that every facet of an object may have changed.
  func outdateAll(_ object: ManagedObject, because cause: Derivations.Cause) {
    let facets = [.presence] + object.entity.allProperties.map { Facet($0.slot) }
    outdate(facets.map { ObjectFacet(id: object.objectID, facet: $0) }, of: object, because: cause)
  }

  private func outdate(
    _ places: [ObjectFacet], of object: ManagedObject, because cause: Derivations.Cause,
    member: ManagedObjectID? = nil
  ) {
    var waiting = places + [ObjectFacet(id: object.objectID, facet: .state)]
    while let place = waiting.popLast() {
      HostWork.note()
      if place.facet != .state, cause != .identity { tellListeners(of: CollectionOfOne(place.id)) }
      let reader = place.id == object.objectID ? object : registeredObject(for: place.id)
      let entity = reader?.entity ?? model.entity(of: place.id)
      if let reader, reader.isObserved {
        let isTold = reader === object && place.facet == places[0].facet
        note(place.facet, of: reader, because: cause, member: isTold ? member : nil)
      }
      derivations.outdateComputations(reading: place, of: entity)
      for slot in reader?.slotsComputed(from: place.facet, because: cause).slots ?? [] {
        if reader?.forgetComputed(slot, because: cause) == true {
          waiting.append(ObjectFacet(id: place.id, facet: Facet(slot)))
        }
      }
      for value in derivations.removeDependents(place, of: entity, because: cause) where forget(value, because: cause) {
        waiting.append(value.place)
      }
    }
    weigh(derivations.drainGrowth())
  }

  /// Drops a value of another object; returns false if the value is gone or was computed again.
  private func forget(_ value: Derivations.Dependent, because cause: Derivations.Cause) -> Bool {
    if value.isDetached { return true }
    guard let owner = registeredObject(for: value.id), owner.caches[value.slot]?.reads?.dependent === value else {
      return false
    }
    return owner.forgetComputed(value.slot, because: cause)
  }

  /// Records the dependencies of a finished computation, and returns them; nil if the value is already outdated.
  func readings(of done: Computation, isStored: Bool) -> ManagedObject.Readings? {
    if done.isOutdated { return nil }
    var readings = ManagedObject.Readings(own: done.own, isStored: isStored)
    readings.inputsNumber = derivations.inputsNumber
    if done.isOpen {
      readings.changeCount = done.changeCount
      return readings
    }
    readings.dependent = derivations.note(done, isStored: isStored)
    if derivations.needsSweep { sweepDerivations() }
    weigh(derivations.drainGrowth())
    return readings
  }

  private func sweepDerivations() {
    HostWork.note(derivations.count)
    derivations.sweep { value in
      registered[value.id]?.takeUnretainedValue().caches[value.slot]?.reads?.dependent === value
    }
  }

  /// Drops all dependencies of derived values.
  func forgetDerivations() {
    derivations.removeAll()
    derivations.stored.outdated = []
    weigh(derivations.drainGrowth())
  }

  /// Records that the running getter asked whether an object exists.
  func noteRead(ofPresence id: ManagedObjectID) {
    if let known = registeredObject(for: id) { return derivations.note(.presence, of: known) }
    if let entity = model.entity(of: id) { derivations.note(.presence, of: id, entity: entity) }
  }

  /// Handles a row that was read: values computed from another version of it become invalid.
  func invalidateOutdated(ofRow row: Snapshot, _ object: ManagedObject) {
    if derivations.isRecording { derivations.noteVersion(row.version, of: row.id) }
    guard derivations.isOther(row.version, of: row.id) else { return }
    outdateAll(object, because: .row)
  }

  /// Records that the running getter read something that no facet covers.
  @inline(__always)
  func recordUntrackedRead() { if derivations.isRecording { derivations.recordUntrackedDependency() } }
}

extension ManagedObjectContext {
  /// Throws if the value is already being computed.
  func checkCircle(of object: ManagedObject, _ slot: Slot) throws {
    let computations = derivations.computations
    guard let start = computations.firstIndex(where: { $0.object === object && $0.slot == slot }) else { return }
    let circle = computations[start...].map(\.name)
    throw object.failure(
      "needs itself: \(Self.way(circle)) -> \(circle[0])", property: object.entity.property(at: slot).name)
  }

  /// A chain of values as text, for messages; long chains are shortened.
  static func way(_ names: [String]) -> String {
    (names.count > 8 ? names.prefix(8) + ["…"] : names[...]).joined(separator: " -> ")
  }
}

extension ManagedObjectContext {
  /// The names of an entity's stored derived attributes.
  package func storedAttributeNames(of entity: ResolvedEntity) throws -> [String] {
    let behavior = try behavior(of: entity)
    return behavior.storedSlots.sorted().map { entity.property(at: $0).name }
  }
}
