// The heap in use after garbage collection.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

export function settledHeap(): number {
  for (let round = 0; round < 3; round++) collect()
  return process.memoryUsage().heapUsed
}
