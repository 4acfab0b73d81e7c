import Foundation
import Moonbase

/// The graph alone, over the in-memory store, compared with hand-written Swift.
extension Benchmark {
  static var graph: [Benchmark] {
    [
      set("set", "setting eight attributes; beside: a class by hand", undoing: false),
      set("set-undo", "the same with undo; beside: by hand with old values in an array", undoing: true),
      undo, derivedRead,
      add("to-many-add", "adding to lists of 100 with inverse; beside: two sets of keys", 100),
      add("to-many-add-all", "adding to one list of all with inverse; beside: two sets of keys", nil),
      saveChanged, pendingFetch,
    ]
  }

  /// Objects made at their first use.
  private final class Lazily<Content> {
    private var content: Content?
    private var count = 0
    private let make: (Int) throws -> Content

    init(_ make: @escaping (Int) throws -> Content) { self.make = make }

    func callAsFunction(_ workplace: Workplace) throws -> Content {
      if let content, count == workplace.count { return content }
      let made = try make(workplace.count)
      (content, count) = (made, workplace.count)
      return made
    }
  }

  private static func set(_ name: String, _ title: String, undoing: Bool) -> Benchmark {
    let pairs = Lazily { try ThingPairs($0, undoing: undoing) }
    return Benchmark(
      name: name, title: title, goal: .ratio(3), prepare: { try pairs($0).settle() },
      yardstick: { .number(try pairs($0).setTwins()) },
      subject: { .number(try pairs($0).setThings()) })
  }

  private static var undo: Benchmark {
    let pairs = Lazily { try ThingPairs($0, undoing: true) }
    return Benchmark(
      name: "undo", title: "undoing a change of each object; beside: old values from an array", goal: .none,
      prepare: { workplace in
        let pairs = try pairs(workplace)
        try pairs.settle()
        pairs.changeAges()
        try pairs.context.processPendingChanges()
      },
      yardstick: { .number(Int64(try pairs($0).log.undo().count)) },
      subject: { workplace in
        let pairs = try pairs(workplace)
        try pairs.context.undo()
        return .number(Int64(pairs.things.count))
      })
  }

  private static var derivedRead: Benchmark {
    let pairs = Lazily { try ThingPairs($0, deriving: true) }
    return Benchmark(
      name: "derived-read", title: "reading a derived value that is kept; beside: an overridden getter",
      goal: .ratio(4),
      prepare: { workplace in
        _ = try pairs(workplace).sumOfThings()
        _ = try pairs(workplace).sumOfTwins()
      },
      yardstick: { .number(try pairs($0).sumOfTwins()) },
      subject: { .number(try pairs($0).sumOfThings()) })
  }

  /// Adds each object to the list of an owner and sets the inverse. The objects of an owner follow each other.
  private static func add(_ name: String, _ title: String, _ members: Int?) -> Benchmark {
    let nodes = Lazily { count in
      let context = try Thing.context()
      let nodes = try (0..<2 * count).map { _ in try context.insert("Node") }
      try context.save()
      return (context: context, nodes: nodes, twins: (0..<2 * count).map { HandWrittenNode(Int64($0)) })
    }
    return Benchmark(
      name: name, title: title, goal: .ratio(5),
      prepare: { workplace in
        let nodes = try nodes(workplace)
        try nodes.context.rollback()
        for node in nodes.twins { (node.from, node.to) = ([], []) }
      },
      yardstick: { workplace in
        let twins = try nodes(workplace).twins
        let count = workplace.count
        for number in 0..<count {
          let owner = twins[count + number / (members ?? count)]
          let member = twins[number]
          owner.to.insert(member.key)
          member.from.insert(owner.key)
        }
        return .number(Int64(twins[count].to.count))
      },
      subject: { workplace in
        let nodes = try nodes(workplace).nodes
        let count = workplace.count
        for number in 0..<count {
          try nodes[count + number / (members ?? count)].add(nodes[number], to: "to")
        }
        return .number(Int64(try nodes[count].objectIDs(forRelationshipNamed: "to").count))
      })
  }

  private static var saveChanged: Benchmark {
    let pairs = Lazily { try ThingPairs($0) }
    return Benchmark(
      name: "save-changed", title: "saving changed objects in memory; beside: copying their values into an array",
      goal: .ratio(4),
      prepare: { workplace in
        let pairs = try pairs(workplace)
        try pairs.context.save()
        try pairs.settle()
        pairs.changeAges()
      },
      yardstick: { .number(try pairs($0).copyTwins()) },
      subject: { workplace in
        let pairs = try pairs(workplace)
        try pairs.context.save()
        return .number(Int64(pairs.things.count))
      })
  }

  /// A fetch of half the objects, run twice; the second time one object has an unsaved change.
  private static var pendingFetch: Benchmark {
    let pairs = Lazily { try ThingPairs($0) }
    func fetch(_ workplace: Workplace, pending: Bool) throws -> Answer {
      let pairs = try pairs(workplace)
      var request = try FetchRequest("Thing", where: "age >= \(workplace.count / 2)")
      request.sortDescriptors = [SortDescriptor("age")]
      if pending { pairs.things[0][Thing.firstKey] = "Changed" }
      let found = try pairs.context.fetch(request)
      return .number(Int64(found.count))
    }
    return Benchmark(
      name: "pending-fetch", title: "a fetch with one unsaved change; beside: with none", goal: .ratio(1.1),
      prepare: { try pairs($0).settle() },
      yardstick: { try fetch($0, pending: false) },
      subject: { try fetch($0, pending: true) })
  }
}
