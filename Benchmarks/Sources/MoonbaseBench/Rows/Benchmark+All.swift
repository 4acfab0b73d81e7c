extension Benchmark {
  /// The rows of the table, in its order.
  static var all: [Benchmark] { store + lua + limits + model + [startUp] }
}
