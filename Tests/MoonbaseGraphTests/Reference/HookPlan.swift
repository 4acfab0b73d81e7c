/// A change that a hook makes once, at its first call.
final class HookPlan {
  enum Point: CaseIterable {
    case awakeFromInsert, prepareForDeletion, willSave, didSave
  }

  private var point: Point?
  private var body: (() throws -> Void)?

  /// Lets a hook run `body` during `operation`; returns whether the hook was called.
  func having(_ point: Point, run body: @escaping () throws -> Void, during operation: () throws -> Void) throws -> Bool
  {
    (self.point, self.body) = (point, body)
    defer { (self.point, self.body) = (nil, nil) }
    try operation()
    return self.body == nil
  }

  func run(_ point: Point) throws {
    guard point == self.point, let body else { return }
    self.body = nil
    try body()
  }
}
