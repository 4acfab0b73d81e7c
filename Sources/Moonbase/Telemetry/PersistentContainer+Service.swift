#if ServiceLifecycle
  public import ServiceLifecycle

  /// With the package trait ServiceLifecycle only: at a graceful shutdown, a container in a service group ends its
  /// pending work and closes its files.
  ///
  /// Services end in the reverse order, so a container precedes the services that use it.
  ///
  /// ```swift
  /// let group = ServiceGroup(services: [container, server], gracefulShutdownSignals: [.sigterm], logger: logger)
  /// try await group.run()
  /// ```
  extension PersistentContainer: Service {
    /// Waits until the group shuts down, or the task is cancelled, and closes the container (`close`).
    public func run() async throws {
      // A cancellation ends the wait, too.
      try? await gracefulShutdown()
      try await close()
    }
  }
#endif
