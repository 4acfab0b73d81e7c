extension Benchmark {
  /// The rows of the table, in its order.
  static var all: [Benchmark] { store + relationships + scripts + lua + limits + model + [startUp] }
}
