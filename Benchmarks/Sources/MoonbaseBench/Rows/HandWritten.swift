import Foundation

/// Code that a careful programmer writes by hand without a graph: setters set a bit in a change mask, and add the
/// object to a list once.
class HandWritten {
  final let log: HandWrittenLog
  private(set) final var changed: UInt64 = 0
  private final var values: HandWrittenValues

  init(_ values: HandWrittenValues, _ log: HandWrittenLog) {
    self.values = values
    self.log = log
  }

  final var first: String {
    get { values.first }
    set { note(0, .text(values.first)); values.first = newValue }
  }
  final var last: String {
    get { values.last }
    set { note(1, .text(values.last)); values.last = newValue }
  }
  final var age: Int64 {
    get { values.age }
    set { note(2, .integer(values.age)); values.age = newValue }
  }
  final var score: Int64 {
    get { values.score }
    set { note(3, .integer(values.score)); values.score = newValue }
  }
  final var height: Double {
    get { values.height }
    set { note(4, .double(values.height)); values.height = newValue }
  }
  final var weight: Double {
    get { values.weight }
    set { note(5, .double(values.weight)); values.weight = newValue }
  }
  final var isActive: Bool {
    get { values.isActive }
    set { note(6, .bool(values.isActive)); values.isActive = newValue }
  }
  final var born: Date {
    get { values.born }
    set { note(7, .double(values.born.timeIntervalSinceReferenceDate)); values.born = newValue }
  }

  /// Computed by subclasses.
  var total: Int64 { 0 }

  final var copy: HandWrittenValues { values }

  @inline(__always)
  private final func note(_ bit: UInt64, _ old: @autoclosure () -> HandWrittenLog.Old.Value) {
    if changed == 0 { log.objects.append(self) }
    changed |= 1 << bit
    if log.isUndoing { log.old.append(.init(object: self, bit: bit, value: old())) }
  }

  final func forgetChanges() { changed = 0 }

  /// Restores an old value, and returns the replaced one.
  final func restore(_ old: HandWrittenLog.Old) -> HandWrittenLog.Old {
    var replaced = old
    switch (old.bit, old.value) {
    case (0, .text(let text)): (replaced.value, values.first) = (.text(values.first), text)
    case (1, .text(let text)): (replaced.value, values.last) = (.text(values.last), text)
    case (2, .integer(let number)): (replaced.value, values.age) = (.integer(values.age), number)
    case (3, .integer(let number)): (replaced.value, values.score) = (.integer(values.score), number)
    default: break
    }
    return replaced
  }
}

/// The eight properties.
struct HandWrittenValues {
  var first: String, last: String, age: Int64, score: Int64, height: Double, weight: Double, isActive: Bool, born: Date
}

/// The list of changed objects with their old values.
final class HandWrittenLog {
  struct Old {
    enum Value { case text(String), integer(Int64), double(Double), bool(Bool) }

    unowned let object: HandWritten
    let bit: UInt64
    var value: Value
  }

  var isUndoing = false
  var objects: [HandWritten] = []
  var old: [Old] = []

  func forgetChanges() {
    for object in objects { object.forgetChanges() }
    objects.removeAll(keepingCapacity: true)
    old.removeAll(keepingCapacity: true)
  }

  func undo() -> [Old] {
    var redo: [Old] = []
    redo.reserveCapacity(old.count)
    while let last = old.popLast() { redo.append(last.object.restore(last)) }
    return redo
  }
}

/// A subclass that caches its computed value.
final class HandWrittenTotal: HandWritten {
  private var kept: Int64?

  override var total: Int64 {
    if let kept { return kept }
    let total = age + score
    kept = total
    return total
  }
}

/// A second subclass, so that the compiler cannot devirtualize the getter.
final class HandWrittenOther: HandWritten {
  override var total: Int64 { 1 }
}

/// Objects that refer to each other by keys.
final class HandWrittenNode {
  let key: Int64
  var from: Set<Int64> = []
  var to: Set<Int64> = []

  init(_ key: Int64) { self.key = key }
}
