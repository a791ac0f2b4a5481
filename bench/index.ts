// Runs all benchmarks: `npm run bench`. Ratios are comparable between machines, absolute figures are not.
import { agentStep } from './agent-step/agent-step.ts'
import { blocking } from './blocking.ts'
import { board } from './board/board.ts'
import { cancel } from './cancel.ts'
import { claims } from './claims.ts'
import { heap } from './heap.ts'
import { imports } from './imports.ts'
import { inspect } from './inspect.ts'
import { memory } from './memory.ts'
import { page } from './page/page.ts'
import { startup } from './startup.ts'
import { supervision } from './supervision.ts'
import { throughput } from './throughput.ts'

await throughput()
await supervision()
await heap()
imports()
await startup()
await cancel()
await claims()
await board()
await blocking()
await memory()
await agentStep()
await inspect()
await page()
