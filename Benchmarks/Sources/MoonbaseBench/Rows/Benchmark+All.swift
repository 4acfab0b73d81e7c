extension Benchmark {
  /// The rows of the table, in its order.
  static var all: [Benchmark] {
    store + batches + relationships + graph + operations + validation + scripts + values + lua + limits + model + data
      + [
        startUp
      ]
  }
}
