extension Benchmark {
  /// The rows of the table, in its order.
  static var all: [Benchmark] {
    store + relationships + graph + validation + scripts + lua + limits + model + [startUp]
  }
}
