extension Benchmark {
  /// The rows of the table, in its order.
  static var all: [Benchmark] {
    let ofGraph = store + batches + relationships + graph + operations + validation + swift
    return ofGraph + scripts + values + lua + limits + model + data + postgreSQL + [startUp]
  }
}
