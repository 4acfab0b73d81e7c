#if ServiceLifecycle
  public import ServiceLifecycle

  /// With the package trait ServiceLifecycle only: a container of a service group ends what is under way and closes its
  /// files at a graceful shutdown. Services end in the reverse order, so a container comes before the services that use
  /// it.
  ///
  /// ```swift
  /// let group = ServiceGroup(services: [container, server], gracefulShutdownSignals: [.sigterm], logger: logger)
  /// try await group.run()
  /// ```
  extension PersistentContainer: Service {
    /// Waits until the group shuts down, or the task is cancelled, and closes the container (`close`).
    public func run() async throws {
      // Cancelled is ended too.
      try? await gracefulShutdown()
      try await close()
    }
  }
#endif
