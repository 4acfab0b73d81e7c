/// The current thread.
package enum CurrentThread {
  /// A number that is unique among the threads of the process while this thread lives.
  package static var number: UInt {
    #if canImport(Darwin)
      UInt(bitPattern: pthread_self())
    #else
      UInt(pthread_self())
    #endif
  }
}
