import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

/// A fetch request that a script builds in steps. Each step makes a new request that shares the earlier steps, so that
/// the memory of many steps is linear.
///
/// A request is a linked list of immutable steps, newest first. `request` combines them from the oldest: conditions are
/// joined by AND, later changes overwrite earlier ones. A script may therefore keep a request and derive several others
/// from it.
final class RequestBox {
  /// A step of the request.
  ///
  /// Steps with closures change the combined request in the order in which the script made them.
  indirect enum Step {
    /// The initial request.
    case start(FetchRequest)
    case condition(Predicate)
    case change((inout FetchRequest) -> Void)
    case saveEvery(Int)
  }

  private let contextBox: ContextBox
  /// The bytes of this step. They are counted as long as the step exists, because a later step may retain it.
  private let weight: Int
  private let step: Step
  /// Unsaved objects that the step refers to, by their temporary IDs, which change when they are saved.
  private let unsaved: [ManagedObjectID: ManagedObject]
  /// The step before this one; nil at the start.
  private var previous: RequestBox?
  /// The number of items of each kind in all steps.
  private let counts: SIMD4<Int32>
  /// The ordered relationship whose destinations are requested. Without `sort` they keep its order.
  private let list: ToManyBox?

  /// The kinds of items that a request may have many of.
  enum Kind: Int {
    case conditions, keys, paths, groups
  }

  /// The most items of a kind, because they are combined at each use of the request.
  static let greatestCount: Int32 = 1000

  /// Makes a request with its first step.
  ///
  /// - Parameter values: the values in the predicate, in which unsaved objects are searched.
  /// - Parameter list: the relationship whose order the results keep; nil for other requests.
  init(_ request: FetchRequest, context: ContextBox, naming values: [Value] = [], of list: ToManyBox? = nil) {
    contextBox = context
    self.list = list
    unsaved = RequestBox.unsaved(values, in: context)
    step = .start(request)
    counts = .zero
    weight = 512 + (request.predicate?.weight ?? 0) + 48 * unsaved.count
    weigh(weight)
  }

  /// Makes a further step.
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

  /// The context of the request. Throws `.invalidRequest` if it no longer exists.
  var context: ManagedObjectContext { get throws { try contextBox.live() } }

  /// Throws if the context no longer exists.
  func checkContext() throws { try contextBox.check() }

  /// Does nothing if the context no longer exists. Adds bytes to the memory that the context counts for its scripts, or
  /// subtracts them.
  private func weigh(_ bytes: Int) { try? contextBox.live().weigh(bytes) }

  /// The unsaved objects that values refer to, by temporary ID. Objects of other contexts are left out.
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

  /// The request with a further step, which adds items of a kind, bytes and referenced values.
  ///
  /// Throws `.invalidRequest` if the request would then have more than `greatestCount` items of the kind.
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

  // Releases the steps iteratively, because a long chain would recurse.
  deinit {
    weigh(-weight)
    var rest = previous.take()
    while isKnownUniquelyReferenced(&rest), let last = rest { rest = last.previous.take() }
  }

  /// All steps, oldest first.
  private var boxes: ReversedCollection<[RequestBox]> {
    var boxes: [RequestBox] = []
    var box: RequestBox? = self
    while let last = box {
      boxes.append(last)
      box = last.previous
    }
    return boxes.reversed()
  }

  /// The combined request. Several conditions mean AND.
  ///
  /// Linear in the number of steps; call it once per use. Temporary IDs of objects that were saved since are replaced
  /// by their permanent IDs.
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

  /// The request for objects. Throws for a request of groups. `method` names the caller in the message.
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

  /// The matching objects. For an ordered relationship, they are in its order. Fetches at once. Throws the errors of
  /// `objectRequest(_:)` and of the fetch.
  func objects(_ method: String) throws -> [ManagedObject] {
    let request = try objectRequest(method)
    return try objectsInOrder(request) ?? context.fetch(request)
  }

  /// The objects of a request in the order of the relationship; nil if the relationship does not determine the order.
  ///
  /// All matching objects are fetched without limit and offset, then sorted by the list of IDs; limit and offset apply
  /// to the result.
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

  /// Throws if the request has `save_every`, which only a walk supports.
  func refuseSaving(_ method: String) throws {
    guard saveEvery != nil else { return }
    throw ScriptError(
      .invalidRequest,
      message: "\(method) saves nothing: save_every belongs to a walk, as in request:save_every(500):each()")
  }

  /// A single predicate for several, without nested ANDs.
  private static func all(_ conditions: [Predicate]) -> Predicate {
    if conditions.count == 1 { return conditions[0] }
    return .and(conditions.flatMap { if case .and(let parts) = $0 { parts } else { [$0] } })
  }

  /// The request as text, truncated if long. Long lists of values are omitted.
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

  /// In Unicode scalars.
  private static let greatestText = 800
  /// In bytes, as `Predicate.weight` estimates them.
  private static let greatestWeightShown = 100_000

  /// The number of visited objects after which a walk saves. The last `save_every` wins; nil without one.
  var saveEvery: Int? {
    boxes.compactMap { if case .saveEvery(let count) = $0.step { count } else { nil } }.last
  }
}

extension Expression {
  /// A constant with current object IDs in place of temporary ones.
  fileprivate func naming(_ objects: [ManagedObjectID: ManagedObject]) -> Expression? {
    guard case .constant(let value) = self else { return nil }
    return value.replacingIDs { objects[$0]?.objectID }.map(Expression.constant)
  }
}
