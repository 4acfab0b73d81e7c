import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

/// A fetch request that a script builds, step by step. Each step is a new request that shares what is below it, so that a
/// thousand steps weigh as much as what each of them says.
final class RequestBox {
  /// What a step says.
  indirect enum Step {
    /// The first one.
    case start(FetchRequest)
    case condition(Predicate)
    case change((inout FetchRequest) -> Void)
    case saveEvery(Int)
  }

  private let contextBox: ContextBox
  /// The bytes that the step keeps, without those below it. They count as long as the step is there: a later one may keep it when
  /// no script does.
  private let weight: Int
  private let step: Step
  /// Objects that the step names and that were not saved yet, by their temporary IDs: once they are saved, they go by others.
  private let unsaved: [ManagedObjectID: ManagedObject]
  private var previous: RequestBox?
  /// How many there are of each kind.
  private let counts: SIMD4<Int32>
  /// The ordered relationship whose destinations are asked for: without `sort` they keep its order.
  private let list: ToManyBox?

  /// What a request may have many of.
  enum Kind: Int {
    case conditions, keys, paths, groups
  }

  /// How many of a kind a request takes: they are gone through, and put together, at each use.
  static let greatestCount: Int32 = 1000

  init(_ request: FetchRequest, context: ContextBox, naming values: [Value] = [], of list: ToManyBox? = nil) {
    contextBox = context
    self.list = list
    unsaved = RequestBox.unsaved(values, in: context)
    step = .start(request)
    counts = .zero
    weight = 512 + (request.predicate?.weight ?? 0) + 48 * unsaved.count
    weigh(weight)
  }

  private init(_ previous: RequestBox, step: Step, counts: SIMD4<Int32>, weight: Int, naming values: [Value]) {
    contextBox = previous.contextBox
    unsaved = RequestBox.unsaved(values, in: contextBox)
    self.previous = previous
    list = previous.list
    self.step = step
    self.counts = counts
    self.weight = 640 + weight + 48 * unsaved.count
    weigh(self.weight)
  }

  var context: ManagedObjectContext { get throws { try contextBox.live() } }

  /// Throws where the context is gone.
  func checkContext() throws { try contextBox.check() }

  /// Where the context is gone, what it counted is forgotten.
  private func weigh(_ bytes: Int) { try? contextBox.live().weigh(bytes) }

  private static func unsaved(_ values: [Value], in box: ContextBox) -> [ManagedObjectID: ManagedObject] {
    var unsaved: [ManagedObjectID: ManagedObject] = [:]
    for value in values {
      _ = value.replacingIDs { id in
        if id.isTemporaryID { unsaved[id] = (try? box.live())?.registeredObject(for: id) }
        return nil
      }
    }
    return unsaved
  }

  /// The request with one more step, which adds so many of a kind, keeps so many bytes and names values.
  func with(
    _ step: Step, adding count: Int = 0, to kind: Kind = .conditions, weight: Int = 0, naming values: [Value] = []
  ) throws -> RequestBox {
    var counts = counts
    counts[kind.rawValue] += Int32(clamping: count)
    guard counts[kind.rawValue] <= Self.greatestCount else {
      throw ScriptError(
        .invalidRequest,
        message: "a request takes at most \(Self.greatestCount) \(kind)"
          + (kind == .conditions ? "; to find one of many values, ask for key IN %@" : ""))
    }
    return RequestBox(self, step: step, counts: counts, weight: weight, naming: values)
  }

  // Many steps would go one inside of the other.
  deinit {
    weigh(-weight)
    var rest = previous.take()
    while isKnownUniquelyReferenced(&rest), let last = rest { rest = last.previous.take() }
  }

  private var boxes: ReversedCollection<[RequestBox]> {
    var boxes: [RequestBox] = []
    var box: RequestBox? = self
    while let last = box {
      boxes.append(last)
      box = last.previous
    }
    return boxes.reversed()
  }

  /// The request as all steps make it; several conditions mean AND.
  var request: FetchRequest {
    var request = FetchRequest("")
    var conditions: [Predicate] = []
    var unsaved: [ManagedObjectID: ManagedObject] = [:]
    for box in boxes {
      unsaved.merge(box.unsaved) { known, _ in known }
      switch box.step {
      case .start(let base):
        request = base
        conditions = base.predicate.map { [$0] } ?? []
      case .condition(let condition): conditions.append(condition)
      case .change(let change): change(&request)
      case .saveEvery: break
      }
    }
    if !conditions.isEmpty { request.predicate = Self.all(conditions) }
    guard !unsaved.isEmpty else { return request }
    request.predicate = request.predicate?.replacing { $0.naming(unsaved) }
    request.havingPredicate = request.havingPredicate?.replacing { $0.naming(unsaved) }
    return request
  }

  /// The request of objects. Throws for one of groups, which are no objects.
  func objectRequest(_ method: String) throws -> FetchRequest {
    let request = request
    if method != "each" { try refuseSaving(method) }
    guard request.propertiesToGroupBy.isEmpty, request.havingPredicate == nil else {
      let step = request.propertiesToGroupBy.isEmpty ? "having" : "group_by"
      throw ScriptError(
        .invalidRequest,
        message:
          "\(method) gives objects, and \(step) makes groups of them: call dictionaries { ... }, or leave \(step) out")
    }
    return request
  }

  /// The objects that match, those of an ordered relationship in its order.
  func objects(_ method: String) throws -> [ManagedObject] {
    let request = try objectRequest(method)
    return try objectsInOrder(request) ?? context.fetch(request)
  }

  /// The objects of a request in the order of the relationship; nil where it does not tell the order.
  func objectsInOrder(_ request: FetchRequest) throws -> [ManagedObject]? {
    guard let list, request.sortDescriptors.isEmpty else { return nil }
    var whole = request
    (whole.fetchLimit, whole.fetchOffset) = (0, 0)
    var found: [ManagedObjectID: ManagedObject] = [:]
    for object in try context.fetch(whole) { found[object.objectID] = object }
    let objects = try list.ids().compactMap { id in
      try HostWork.charge()
      return found[id]
    }
    let window = objects.dropFirst(request.fetchOffset)
    return Array(request.fetchLimit > 0 ? window.prefix(request.fetchLimit) : window)
  }

  /// Only a walk can save on its way.
  func refuseSaving(_ method: String) throws {
    guard saveEvery != nil else { return }
    throw ScriptError(
      .invalidRequest,
      message: "\(method) saves nothing: save_every belongs to a walk, as in request:save_every(500):each()")
  }

  private static func all(_ conditions: [Predicate]) -> Predicate {
    if conditions.count == 1 { return conditions[0] }
    return .and(conditions.flatMap { if case .and(let parts) = $0 { parts } else { [$0] } })
  }

  /// What the request asks for, cut off where it becomes long; a list of many values in it is not shown.
  var text: String {
    var request = request
    var end = ""
    if let predicate = request.predicate, predicate.weight > Self.greatestWeightShown {
      request.predicate = nil
      end = " where …"
    }
    let text = "fetch request for \(request)"
    let start = String(text.unicodeScalars.prefix(Self.greatestText))
    return (start.utf8.count < text.utf8.count ? start + "…" : start) + end
  }

  private static let greatestText = 800
  private static let greatestWeightShown = 100_000

  /// After how many visited objects a walk saves.
  var saveEvery: Int? {
    boxes.compactMap { if case .saveEvery(let count) = $0.step { count } else { nil } }.last
  }
}

extension Expression {
  /// A constant with objects' IDs of now in place of their temporary ones.
  fileprivate func naming(_ objects: [ManagedObjectID: ManagedObject]) -> Expression? {
    guard case .constant(let value) = self else { return nil }
    return value.replacingIDs { objects[$0]?.objectID }.map(Expression.constant)
  }
}
