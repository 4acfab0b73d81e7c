import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

/// Only the methods that a subclass declares as overridden are called.
@Suite struct DeclaredHooksTests {
  /// Overrides every method and records the calls.
  class Noting: ManagedObject {
    nonisolated(unsafe) static var called: Set<String> = []  // the suite's one test with it is serialized

    private func note(_ name: String = #function) { Self.called.insert(String(name.prefix { $0 != "(" })) }

    override func awakeFromInsert() { note() }
    override func awakeFromFetch() { note() }
    override func willSave() throws { note() }
    override func didSave() { note() }
    override func prepareForDeletion() { note() }
    override func willTurnIntoFault() { note() }
    override func didTurnIntoFault() { note() }
    override func validateForInsert() throws { note() }
    override func validateForUpdate() throws { note() }
    override func validateForDelete() throws { note() }
    override func validateValue(_ value: inout Value, forKey key: String) throws { note() }
  }

  final class Silent: Noting {
    override class var overriddenLifecycleMethods: LifecycleHooks { [] }
  }

  final class Saving: Noting {
    override class var overriddenLifecycleMethods: LifecycleHooks {
      [.willSave, .validateForUpdate, .didTurnIntoFault]
    }
  }

  /// Runs an object through its life cycle and returns the methods that were called.
  private func calls(_ type: ManagedObject.Type, _ kind: StoreKind) throws -> Set<String> {
    var model = People.model()
    model.entities[0].managedObjectClassName = "Noting"
    let bench = try StoreBench(kind, model)
    bench.coordinator.register(type, forClassName: "Noting")
    let context = bench.context()
    Noting.called = []
    let person = try context.insert("Person", values: ["firstName": "Ann"])
    try context.save()
    try context.turnIntoFault(person)
    try person.setValue("Bob", forKey: "firstName")
    try context.save()
    try context.delete(person)
    try context.save()
    return Noting.called
  }

  @Test func onlyDeclaredMethodsAreCalled() throws {
    for kind in StoreKind.allCases {
      #expect(try calls(Silent.self, kind) == [])
      #expect(try calls(Saving.self, kind) == ["willSave", "validateForUpdate", "didTurnIntoFault"])
      #expect(
        try calls(Noting.self, kind) == [
          "awakeFromInsert", "awakeFromFetch", "willSave", "didSave", "prepareForDeletion", "willTurnIntoFault",
          "didTurnIntoFault", "validateForInsert", "validateForUpdate", "validateForDelete", "validateValue",
        ])
    }
  }
}
