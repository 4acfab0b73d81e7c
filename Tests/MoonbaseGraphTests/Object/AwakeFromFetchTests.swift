import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// Values that `awakeFromFetch` sets: it does not record changes.
@Suite struct AwakeFromFetchTests {
  private func people(_ kind: StoreKind) throws -> (
    bench: StoreBench, person: ManagedObjectID, department: ManagedObjectID
  ) {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let person = try context.insert("Person", values: ["firstName": "A"])
    let department = try context.insert("Department", values: ["name": "D"])
    try context.save()
    return (bench, person.objectID, department.objectID)
  }

  @Test(arguments: StoreKind.allCases)
  func aRelationshipWithAnInverseIsRefused(_ kind: StoreKind) throws {
    let (bench, personID, departmentID) = try people(kind)
    for isOther in [false, true] {
      let on = Switch(1)
      let context = bench.context { entry in
        entry.awakeFromFetch = { object in
          guard on.value == 1, let context = object.managedObjectContext else { return }
          let department = try context.object(with: departmentID)
          if isOther {
            try department.add(object, to: "employees")
          } else {
            try object.setObject(department, forKey: "department")
          }
        }
      }
      let person = try context.object(with: personID)
      #expect { try person.fireFault() } throws: { error in
        "\(error)".contains("a relationship with an inverse cannot be set in awakeFromFetch")
          && (error as? GraphError)?.property == (isOther ? "employees" : "department")
      }
      #expect(!context.hasChanges && context.brokenInvariants() == [])
      on.value = 0
      #expect(try person.value(forKey: "department") == .null)
      try person.setObject(context.object(with: departmentID), forKey: "department")
      try context.rollback()
    }
  }

  /// The deletion fires the fault; values set by `awakeFromFetch` are discarded with the object.
  @Test(arguments: StoreKind.allCases)
  func aDeletedObjectMayWakeUpAndSetWhatItNeeds(_ kind: StoreKind) throws {
    let (bench, personID, _) = try people(kind)
    let context = bench.context { entry in
      entry.awakeFromFetch = { object in
        try object.setValue("woken", forKey: "fullName")
        try object.setPrimitiveValue("woken", forKey: "lastName")
      }
    }
    let person = try context.object(with: personID)
    try context.delete(person)
    try context.save()
    #expect(try bench.saved("Person", "firstName") == [])
  }
}
