// The abilities of memory. Their registration and their types derive from this list.

import { memArchive, memConsolidate, memMerge, memObserve, memRemember, memSave } from './changes.ts'
import { memBranches, memFacts, memHistory, memObservations, memRetrieve, memWhy } from './read.ts'

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
