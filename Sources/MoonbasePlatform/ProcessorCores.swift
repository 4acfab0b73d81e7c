/// The cores that this process may use: fewer than the machine has, where it was started so (`taskset`, a container).
package enum ProcessorCores {
  /// How many there were when it was asked for first.
  package static let count: Int = {
    #if os(Linux)
      var set = cpu_set_t()
      if sched_getaffinity(0, MemoryLayout<cpu_set_t>.size, &set) == 0 {
        return withUnsafeBytes(of: &set) { bytes in bytes.reduce(0) { $0 + $1.nonzeroBitCount } }
      }
    #endif
    return ProcessInfo.processInfo.activeProcessorCount
  }()
}
