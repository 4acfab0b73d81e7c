/// Foundation is imported here only, so that differences between platforms are in a single place.
@_exported public import Foundation

#if canImport(Glibc)
  @_exported public import Glibc
#elseif canImport(Darwin)
  @_exported public import Darwin
#endif
