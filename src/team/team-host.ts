// What teams need of the engine that they stand on: what memory needs, for they work with its facts.
import type { MemoryHost } from '../memory/memory-host.ts'

export type TeamHost = MemoryHost
