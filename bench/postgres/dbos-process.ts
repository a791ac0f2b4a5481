// DBOS in a sample: its workflows are put into a queue by as many lanes as may run at a time, while the queue drains. A lane does not wait
// for its workflow, which is more than errand's lanes may do: DBOS polls for results.
import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { inLanes } from '../floors/lanes.ts'
import { loadPeer } from '../peers/install.ts'
import { childOrder, serve } from './child.ts'
import { dbosFolder } from './dbos.ts'

interface Dbos {
  registerWorkflow(work: () => Promise<null>, config: { name: string }): unknown
  setConfig(config: object): void
  launch(): Promise<void>
  registerQueue(name: string, options: object): Promise<unknown>
  startWorkflow(workflow: unknown, options: { queueName: string }): () => Promise<unknown>
  runStep(work: () => Promise<unknown>, config: { name: string }): Promise<unknown>
}

const order = childOrder()
const { lanes, calls = 0 } = order
const queueName = 'bench'
/** Its default of a second would be measured instead of its work. */
const minPollingIntervalMs = 10

const { DBOS } = await loadPeer<{ DBOS: Dbos }>('@dbos-inc/dbos-sdk', dbosFolder)
let returned: () => void = () => {}
const workflow = DBOS.registerWorkflow(
  async () => {
    for (let n = 0; n < calls; n++) await DBOS.runStep(async () => n, { name: `step ${n}` })
    returned()
    return null
  },
  { name: 'trivial' },
)
DBOS.setConfig({ name: 'bench', systemDatabaseUrl: order.url, logLevel: 'error' })
await DBOS.launch()
await DBOS.registerQueue(queueName, { workerConcurrency: lanes, minPollingIntervalMs })
const client = new pg.Client({ connectionString: order.url })
await client.connect()

/** Resolves when the end of the last one is durable. */
async function drain(tasks: number): Promise<void> {
  let left = tasks
  const all = new Promise<void>((resolve) => {
    returned = () => {
      if (--left === 0) resolve()
    }
  })
  await inLanes(tasks, lanes, () => DBOS.startWorkflow(workflow, { queueName })())
  await all
  while ((await unfinished()) > 0) await delay(5)
}

async function unfinished(): Promise<number> {
  const { rows } = await client.query<{ count: string }>(
    `select count(*) from dbos.workflow_status where status <> 'SUCCESS'`,
  )
  return Number(rows[0]?.count)
}

/** Of the latest drain: how many tasks it can do in a time. */
let perSecond = 0

async function drainTimed(tasks: number): Promise<number> {
  const began = performance.now()
  await drain(tasks)
  perSecond = (tasks / (performance.now() - began)) * 1_000
  return tasks
}

await serve(
  order,
  async (seconds) => {
    if (perSecond === 0) await drainTimed(2 * lanes)
    return await drainTimed(Math.max(lanes, Math.round(perSecond * seconds)))
  },
  () => {},
  () => ({}),
)
process.exit(0)
