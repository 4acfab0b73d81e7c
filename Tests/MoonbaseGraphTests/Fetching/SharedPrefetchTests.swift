import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// Prefetches of a walk whose objects have destinations in common.
@Suite struct SharedPrefetchTests {
  /// Destinations common to several windows of a walk are read once.
  @Test(arguments: StoreKind.allCases) func aWalkReadsWhatItsObjectsShareNotForEachWindow(_ kind: StoreKind) throws {
    func units(_ count: Int) throws -> Int {
      let bench = try StoreBench(kind)
      let context = bench.context()
      let departments = try (0..<10).map { try context.insert("Department", values: ["name": .string("\($0)")]) }
      for index in 0..<count {
        let person = try context.insert("Person", values: ["email": .string("\(index)")])
        try person.setObject(departments[index % 10], forKey: "department")
      }
      try context.save()
      let reader = bench.stranger()
      var request = FetchRequest("Person")
      request.relationshipKeyPathsForPrefetching = ["department.employees"]
      request.fetchBatchSize = 16
      var walked = 0
      let units = try HostWorkMeter.units {
        for person in try reader.fetchedObjects(request) {
          #expect(person.managedObjectContext === reader)
          walked += 1
        }
      }
      #expect(walked == count)
      return units
    }
    let (few, many) = (try units(1000), try units(4000))
    #expect(many < 6 * few, "\(few), \(many)")
  }

  @Test(arguments: StoreKind.allCases) func whatIsSharedIsThereInEachWindow(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let departments = try (0..<3).map { try context.insert("Department", values: ["name": .string("\($0)")]) }
    for index in 0..<200 {
      let person = try context.insert("Person", values: ["email": .string("\(index)")])
      try person.setObject(departments[index % 3], forKey: "department")
    }
    try context.save()
    let reader = bench.stranger()
    var request = FetchRequest("Person")
    request.relationshipKeyPathsForPrefetching = ["department.employees", "department.projects"]
    request.fetchBatchSize = 8
    for person in try reader.fetchedObjects(request) {
      let department = try #require(try person.object(forKey: "department"))
      let count = try department.objects(forKey: "employees").count
      #expect(count == 66 || count == 67)
    }
  }
}
