// The abilities of memory. This list alone puts them on the bus and makes their types known.
import { memBranches, memFacts, memHistory, memObservations, memRetrieve, memWhy } from './read.ts'
import { memArchive, memConsolidate, memMerge, memObserve, memRemember, memSave } from './write.ts'

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
