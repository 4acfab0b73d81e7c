#include "limits/blocks.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EVERY_BLOCK_IS_LARGE 1  // so that the sanitizer can check each block
#endif
#endif

#define FIRST_SLAB ((size_t)16 * 1024)
#define LARGEST_SLAB ((size_t)64 * 1024)

static bool is_small(size_t size) {
#ifdef EVERY_BLOCK_IS_LARGE
  (void)size;
  return false;
#else
  return size <= MBL_BLOCK_LARGEST;
#endif
}

static size_t class_of(size_t size) { return (size - 1) / MBL_BLOCK_GRAIN; }

static void put(MBLBlocks *blocks, void *block, size_t class) {
  *(void **)block = blocks->vacant[class];
  blocks->vacant[class] = block;
}

static void *take_vacant(MBLBlocks *blocks, size_t class) {
  void *block = blocks->vacant[class];
  if (block != NULL) blocks->vacant[class] = *(void **)block;
  return block;
}

static bool add_slab(MBLBlocks *blocks) {
  size_t size = blocks->slabSize == 0 ? FIRST_SLAB : blocks->slabSize;
  char *slab = malloc(size);
  if (slab == NULL) return false;
  if (blocks->end > blocks->fresh) put(blocks, blocks->fresh, class_of((size_t)(blocks->end - blocks->fresh)));
  *(void **)slab = blocks->slabs;
  blocks->slabs = slab;
  blocks->fresh = slab + MBL_BLOCK_GRAIN;
  blocks->end = slab + size;
  blocks->slabSize = size < LARGEST_SLAB ? size * 2 : size;
  return true;
}

static void *take(MBLBlocks *blocks, size_t size) {
  if (!is_small(size)) return malloc(size);
  size_t class = class_of(size), rounded = (class + 1) * MBL_BLOCK_GRAIN;
  void *block = take_vacant(blocks, class);
  if (block != NULL) return block;
  if ((size_t)(blocks->end - blocks->fresh) >= rounded || add_slab(blocks)) {
    block = blocks->fresh;
    blocks->fresh += rounded;
    return block;
  }
  // If the system has no memory, a larger vacant block is used.
  while (block == NULL && ++class < MBL_BLOCK_LARGEST / MBL_BLOCK_GRAIN) block = take_vacant(blocks, class);
  return block;
}

void *mbl_block_resize(MBLBlocks *blocks, void *block, size_t old, size_t size) {
  if (block == NULL) return take(blocks, size);
  if (!is_small(old) && !is_small(size)) {
    void *moved = realloc(block, size);
    return moved != NULL || size > old ? moved : block;
  }
  if (is_small(old) && is_small(size) && class_of(old) == class_of(size)) return block;
  void *moved = take(blocks, size);
  // Lua relies on shrinking to succeed. A system block that stays in place here leaks when the state closes.
  if (moved == NULL) return size > old ? NULL : block;
  memcpy(moved, block, old < size ? old : size);
  mbl_block_free(blocks, block, old);
  return moved;
}

void mbl_block_free(MBLBlocks *blocks, void *block, size_t size) {
  if (block == NULL) return;
  if (is_small(size)) {
    put(blocks, block, class_of(size));
  } else {
    free(block);
  }
}

void mbl_blocks_release(MBLBlocks *blocks) {
  while (blocks->slabs != NULL) {
    void *slab = blocks->slabs;
    blocks->slabs = *(void **)slab;
    free(slab);
  }
}
