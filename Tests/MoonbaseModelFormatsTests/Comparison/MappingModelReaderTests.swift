import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import Testing

/// Mapping models of Xcode.
@Suite(.enabled(if: RealFiles.areThere, "the real models are not beside the checkout"))
struct MappingModelReaderTests {
  private func read(_ name: String) throws -> MappingModel {
    let source = try ModelSource(contentsOf: RealFiles.url("models/\(name)"))
    #expect(MappingModel.recognizes(source))
    return try MappingModel(source)
  }

  @Test func entityMappingsComeInTheirOrderWithoutOrphans() throws {
    let model = try read("LoopKit-Modelv1v4.xcmapping.xml")
    #expect(
      model.entityMappings.map(\.name) == [
        "ReservoirToReservoir", "PumpEventToPumpEvent", "CachedGlucoseObjectToCachedGlucoseObject",
        "CachedInsulinDeliveryObjectToCachedInsulinDeliveryObject", "CachedCarbObjectToCachedCarbObject",
        "DeletedCarbObjectToCachedCarbObject",
      ])
    let carbs = try #require(model.entityMapping(named: "CachedCarbObjectToCachedCarbObject"))
    #expect(carbs.kind == .custom)
    #expect(carbs.migrationPolicyClassName == "LoopKit.CachedCarbObjectv3EntityMigrationPolicy")
    #expect(model.warnings.count == 2)
  }

  @Test func valueExpressionsAreRead() throws {
    let model = try read("CoreDataPlus-V2toV3.xcmapping.xml")
    let cars = try #require(model.entityMapping(named: "CarToCar"))
    let owners = try #require(cars.relationshipMappings.first { $0.name == "previousOwners" })
    #expect(
      owners.source
        == .expression(
          .function(
            "destinationInstancesForEntityMappingNamed:sourceInstances:",
            [.variable("manager"), .constant("PersonToPerson"), .keyPath(.variable("source"), ["owner"])])))
    #expect(cars.attributeMappings.contains(PropertyMapping("model", from: .automatic)))
    #expect(model.entityMappings.last?.kind == .add)
  }
}
