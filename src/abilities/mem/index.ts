// The abilities of memory, one file each. This list alone puts them on the bus and makes their types known.
import { memArchive } from './archive.ts'
import { memBranches } from './branches.ts'
import { memConsolidate } from './consolidate.ts'
import { memFacts } from './facts.ts'
import { memHistory } from './history.ts'
import { memMerge } from './merge.ts'
import { memObservations } from './observations.ts'
import { memObserve } from './observe.ts'
import { memRemember } from './remember.ts'
import { memRetrieve } from './retrieve.ts'
import { memSave } from './save.ts'
import { memWhy } from './why.ts'

export const memAbilities = [
  memArchive,
  memBranches,
  memConsolidate,
  memFacts,
  memHistory,
  memMerge,
  memObservations,
  memObserve,
  memRemember,
  memRetrieve,
  memSave,
  memWhy,
] as const
