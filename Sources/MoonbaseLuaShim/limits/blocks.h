#ifndef MOONBASE_LUA_BLOCKS_H
#define MOONBASE_LUA_BLOCKS_H

#include "state.h"

// The memory of one state. Nearly all blocks that Lua asks for are small and of few sizes, and Lua tells the size of a block when
// it gives it back. So small blocks are cut from slabs and kept in a list for each size. That costs a tenth of what malloc costs,
// and keeps the blocks of one script together. A slab stays with its state; large blocks come from malloc.

// Resizes a block of `old` bytes to `size`, and keeps what it held. NULL without memory, but never where the block shrinks.
void *mbl_block_resize(MBLBlocks *blocks, void *block, size_t old, size_t size);
void mbl_block_free(MBLBlocks *blocks, void *block, size_t size);
// Frees all slabs. Large blocks have to be freed before.
void mbl_blocks_release(MBLBlocks *blocks);

#endif
