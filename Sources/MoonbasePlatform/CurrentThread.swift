/// The thread that code runs on.
package enum CurrentThread {
  /// A number that no other thread has as long as this one lives.
  package static var number: UInt {
    #if canImport(Darwin)
      UInt(bitPattern: pthread_self())
    #else
      UInt(pthread_self())
    #endif
  }
}
