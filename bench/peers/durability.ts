// What peers promise of a write that they have acknowledged, and for how long they are measured.
export const normalDurability = 'NORMAL: a power cut loses the last acknowledged writes'

/** Slow peers end after this time with a part of the tasks. */
export const maxMs = Number(process.env.BENCH_PEER_MS ?? 10_000)
