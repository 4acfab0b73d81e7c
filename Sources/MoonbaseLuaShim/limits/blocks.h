#ifndef MOONBASE_LUA_BLOCKS_H
#define MOONBASE_LUA_BLOCKS_H

#include "state.h"

// The memory of a state. Most blocks that Lua requests are small and of few sizes, and Lua passes the size when it
// frees a block. So small blocks are cut from slabs and kept in a free list per size. This takes a tenth of malloc's
// time, and keeps the blocks of a script together. A slab stays with its state; large blocks come from malloc.

// Resizes a block from `old` to `size` bytes, keeping its content. Returns NULL without memory, but never when
// shrinking.
void *mbl_block_resize(MBLBlocks *blocks, void *block, size_t old, size_t size);
void mbl_block_free(MBLBlocks *blocks, void *block, size_t size);
// Frees all slabs. Large blocks must be freed before.
void mbl_blocks_release(MBLBlocks *blocks);

#endif
