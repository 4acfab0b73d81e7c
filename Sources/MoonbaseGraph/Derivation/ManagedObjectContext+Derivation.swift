import MoonbaseModel
import MoonbasePlatform

/// What was computed from something no longer holds once this is another value.
extension ManagedObjectContext {
  /// A facet of an object is another one: values that were computed from it do not hold any more. Where that is an unsaved change,
  /// the next save computes the stored ones among them.
  func outdate(
    _ object: ManagedObject, _ facet: Facet, because cause: Derivations.Cause, member: ManagedObjectID? = nil
  ) {
    guard derivations.isWatching || object.isObserved else {
      // Only the object itself may have computed anything from it.
      HostWork.note()
      object.forgetOwnComputed(from: facet, because: cause)
      return object.forgetOwnComputed(from: .state, because: cause)
    }
    outdate([ObjectFacet(id: object.objectID, facet: facet)], of: object, because: cause, member: member)
  }

  /// Every facet of an object may be another one.
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
      for value in derivations.take(place, of: entity, because: cause) where forget(value, because: cause) {
        waiting.append(value.place)
      }
    }
    weigh(derivations.takeGrowth())
  }

  /// Forgets a value of another object; false where there is none, or another one by now.
  private func forget(_ value: Derivations.Dependent, because cause: Derivations.Cause) -> Bool {
    if value.isDetached { return true }
    guard let owner = registeredObject(for: value.id), owner.caches[value.slot]?.reads?.dependent === value else {
      return false
    }
    return owner.forgetComputed(value.slot, because: cause)
  }

  /// Notes what a value was computed from, and returns what it has to be kept with; nil where it does not hold already.
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
    weigh(derivations.takeGrowth())
    return readings
  }

  private func sweepDerivations() {
    HostWork.note(derivations.count)
    derivations.sweep { value in
      registered[value.id]?.takeUnretainedValue().caches[value.slot]?.reads?.dependent === value
    }
  }

  /// What was computed is all forgotten.
  func forgetDerivations() {
    derivations.removeAll()
    outdatedStored = []
    weigh(derivations.takeGrowth())
  }

  /// A getter that runs asks whether an object is there.
  func noteRead(ofPresence id: ManagedObjectID) {
    if let known = registeredObject(for: id) { return derivations.note(.presence, of: known) }
    if let entity = model.entity(of: id) { derivations.note(.presence, of: id, entity: entity) }
  }

  /// A row arrives. If something was computed from another version of it, that does not hold any more.
  func takeNote(ofRow row: Snapshot, _ object: ManagedObject) {
    if derivations.isRecording { derivations.noteVersion(row.version, of: row.id) }
    guard derivations.isOther(row.version, of: row.id) else { return }
    outdateAll(object, because: .row)
  }

  /// A getter that runs asks what no facet of an object tells.
  @inline(__always)
  func noteOpenRead() { if derivations.isRecording { derivations.noteOpen() } }
}
