#ifndef MOONBASE_LUA_BLOCKS_H
#define MOONBASE_LUA_BLOCKS_H

#include "state.h"

// The memory of one state. Nearly all of what Lua asks for is small and of few sizes, and it says how large a block was when it
// gives it back: small blocks are cut from slabs and kept in a list for each size, which costs a tenth of the system's way and
// keeps together what one script made. A slab stays with its state; large blocks are the system's.

// A block of `size` bytes with what `block`, of `old` bytes, held; NULL without memory, never where `size` is not more than `old`.
void *mbl_block_resize(MBLBlocks *blocks, void *block, size_t old, size_t size);
void mbl_block_free(MBLBlocks *blocks, void *block, size_t size);
// Gives all slabs back; large blocks have to be free by then.
void mbl_blocks_release(MBLBlocks *blocks);

#endif
