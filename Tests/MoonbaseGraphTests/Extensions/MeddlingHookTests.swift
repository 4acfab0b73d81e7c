import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph
@testable import MoonbaseBatchRequests

/// Rules, hooks, getters, setters and normalizers that throw, or try forbidden operations at every point. The call
/// fails or succeeds, and the context remains usable as if there had been no call.
@Suite struct MeddlingHookTests {
  enum Meddling: CaseIterable {
    case throwing, recursion, save, close, reset, rollback, delete, set, insert, fetch, childSave, undo, batch, refresh,
      process

    func run(_ object: ManagedObject) throws {
      guard let context = object.managedObjectContext else { return }
      switch self {
      case .throwing: throw GraphError(.validation, message: "thrown")
      case .recursion:
        _ = try object.validate()
        _ = try object.value(forKey: "fullName")
      case .save: try context.save()
      case .close: try context.close()
      case .reset: try context.reset()
      case .rollback: try context.rollback()
      case .delete: try context.delete(object)
      case .set: try object.setValue("set", forKey: "lastName")
      case .insert: try context.insert("Department", values: ["name": "X"])
      case .fetch: _ = try context.fetch(FetchRequest("Person"))
      case .undo: try context.undo()
      case .batch: try context.execute(BatchUpdateRequest("Person", set: ["lastName": "b"]))
      case .refresh: try context.refresh(object, mergeChanges: true)
      case .process: try context.processPendingChanges()
      case .childSave:
        let child = ManagedObjectContext(parent: context)
        try child.insert("Department", values: ["name": "child"])
        try child.save()
      }
    }
  }

  private typealias Point = (inout EntityExtension, @escaping EntityExtension.Hook) -> Void

  private static var points: [Point] {
    [
      { entry, act in
        entry.validate["firstName"] = { _, subject in
          try act(subject.object)
          return nil
        }
      },
      { entry, act in
        entry.validateForUpdate = { object in
          try act(object)
          return nil
        }
      },
      { entry, act in
        entry.normalize["firstName"] = { value, object in
          try act(object)
          return value
        }
      },
      { $0.willSave = $1 }, { $0.didSave = $1 }, { $0.awakeFromInsert = $1 }, { $0.awakeFromFetch = $1 },
      { $0.prepareForDeletion = $1 }, { $0.willTurnIntoFault = $1 }, { $0.didTurnIntoFault = $1 },
      { entry, act in
        entry.derived = [
          DerivedAttribute("fullName") { object in
            try act(object)
            return try object.value(forKey: "firstName")
          }
        ]
      },
      { entry, act in
        entry.derived = [
          DerivedAttribute(
            "fullName", get: { try $0.value(forKey: "firstName") },
            set: { value, object in
              try act(object)
              try object.setValue(value, forKey: "firstName")
            })
        ]
      },
    ]
  }

  @Test(arguments: StoreKind.allCases, Meddling.allCases)
  func theContextGoesOn(_ kind: StoreKind, _ meddling: Meddling) throws {
    for point in Self.points.indices {
      let bench = try StoreBench(kind)
      let isActive = Switch()
      let context = bench.context { entry in
        Self.points[point](&entry) { object in if isActive.value == 1 { try meddling.run(object) } }
      }
      context.undoManager = UndoManager()
      let (one, other) = (try context.insert("Person"), try context.insert("Person"))
      try context.save()
      isActive.value = 1
      try? one.setValue("c", forKey: "firstName")
      _ = try? one.validate()
      _ = try? one.validate("q", forKey: "firstName")
      _ = try? one.value(forKey: "fullName")
      try? one.setValue("d", forKey: "fullName")
      _ = try? context.insert("Person", values: ["firstName": "n"])
      try? context.save()
      try? context.refresh(other, mergeChanges: false)
      _ = try? other.value(forKey: "firstName")
      try? context.delete(other)
      try? context.save()
      isActive.value = 0
      #expect(!context.lifetime.isClosed && context.brokenInvariants() == [], "\(point)")
      try context.rollback()
      _ = context.drainAccessorErrors()
      try context.insert("Person", values: ["firstName": "late"])
      try context.save()
      #expect(try bench.saved("Person", "firstName").contains("late"), "\(point)")
      #expect(context.brokenInvariants() == [], "\(point)")
    }
  }
}
