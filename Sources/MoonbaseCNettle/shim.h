#include <nettle/sha2.h>
#include <nettle/version.h>

// Since nettle 4 a digest has no length but its own.
static inline void moonbase_sha256_digest(struct sha256_ctx *context, uint8_t *digest) {
#if NETTLE_VERSION_MAJOR < 4
  nettle_sha256_digest(context, SHA256_DIGEST_SIZE, digest);
#else
  nettle_sha256_digest(context, digest);
#endif
}

static inline void moonbase_sha512_digest(struct sha512_ctx *context, uint8_t *digest) {
#if NETTLE_VERSION_MAJOR < 4
  nettle_sha512_digest(context, SHA512_DIGEST_SIZE, digest);
#else
  nettle_sha512_digest(context, digest);
#endif
}
