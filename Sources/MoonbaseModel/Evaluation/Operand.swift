/// The result of an expression.
///
/// Objects stay objects until a comparison needs their IDs, so that a path can continue.
@usableFromInline
enum Operand<Subject: SlottedSubject> {
  /// A value.
  case value(Value)
  /// An object, or a missing one.
  case object(Subject?)
  /// The objects at the end of a to-many path. Nil elements stand for missing to-one destinations on the path.
  case objects([Subject?])

  /// The result as a value, with objects as their IDs.
  @usableFromInline var value: Value {
    switch self {
    case .value(let value): value
    case .object(let object): object?.predicateValue ?? .null
    case .objects(let objects): .list(objects.map { $0?.predicateValue ?? .null })
    }
  }

  /// The elements of a collection; nil for other results.
  var elements: [Value]? {
    switch self {
    case .value(.list(let elements)): elements
    case .objects(let objects): objects.map { $0?.predicateValue ?? .null }
    default: nil
    }
  }

  /// The result of a subject's answer.
  init(_ answer: PredicateAnswer<Subject>) {
    self =
      switch answer {
      case .value(let value): .value(value)
      case .object(let object): .object(object)
      case .objects(let objects): .objects(objects)
      }
  }
}

/// The variables of an evaluation, bound by subqueries and assignments.
@usableFromInline
struct Bindings<Subject: SlottedSubject> {
  /// The value of each variable, by index.
  @usableFromInline var operands: [Operand<Subject>] = []
  // Not retained, because bindings are made for every row. The caller keeps the memo alive.
  @usableFromInline unowned(unsafe) let memo: EvaluationMemo?

  /// Bindings without variables.
  @inlinable init(memo: EvaluationMemo?) { self.memo = memo }

  /// The value of a variable; null before it is bound.
  subscript(index: Int) -> Operand<Subject> {
    get { index < operands.count ? operands[index] : .value(.null) }
    set {
      while operands.count <= index { operands.append(.value(.null)) }
      operands[index] = newValue
    }
  }
}
