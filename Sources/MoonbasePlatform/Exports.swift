/// Foundation is imported here only, so that a platform's differences have one place.
@_exported public import Foundation

#if canImport(Glibc)
  @_exported public import Glibc
#elseif canImport(Darwin)
  @_exported public import Darwin
#endif
