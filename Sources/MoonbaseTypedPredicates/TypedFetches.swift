public import MoonbaseGraph
import MoonbaseModel

extension TypedFetchRequest {
  /// Makes a request for the objects of the class that satisfy a condition, in an order. Nil selects all objects.
  public init(where condition: TypedPredicate<Object>?, sort: [TypedSortDescriptor<Object>] = []) {
    var request = FetchRequest("", where: condition?.predicate)
    request.sortDescriptors = sort.map { $0.descriptor }
    self.init(request)
  }

  /// Makes a request for all objects of the class, in an order.
  public init(sort: [TypedSortDescriptor<Object>]) {
    self.init(where: nil, sort: sort)
  }
}

extension TypedObject where Self: ManagedObject {
  /// A request for the objects of the class that satisfy a condition, in an order. Nil selects all objects.
  public static func fetchRequest(
    where condition: TypedPredicate<Self>?, sort: [TypedSortDescriptor<Self>] = []
  ) -> TypedFetchRequest<Self> {
    TypedFetchRequest(where: condition, sort: sort)
  }
}
